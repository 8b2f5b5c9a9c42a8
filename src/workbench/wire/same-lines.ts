/**
 * Finds lines that two texts have in common, in the order of both. The page uses it to show the changes of an edit, the
 * server to find the new position of a line.
 */

/**
 * Maximum number of lines that are compared, without the common beginning and end: memory grows with the product of
 * both numbers.
 */
const MOST = 1500;

/** Returns pairs of indexes of equal lines, as many as possible. */
export function sameLines(before: readonly string[], now: readonly string[]): readonly (readonly [number, number])[] {
  let start = 0;
  while (start < before.length && start < now.length && before[start] === now[start]) start++;
  let end = 0;
  const most = Math.min(before.length, now.length) - start;
  while (end < most && before.at(-1 - end) === now.at(-1 - end)) end++;
  const [old, fresh] = [before.slice(start, before.length - end), now.slice(start, now.length - end)];
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  for (const [i, j] of within(old, fresh)) pairs.push([start + i, start + j]);
  for (let i = end; i > 0; i--) pairs.push([before.length - i, now.length - i]);
  return pairs;
}

function within(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  if (old.length > MOST || fresh.length > MOST) return [];
  // For each pair of positions, the number of lines that the remaining texts have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row) row[j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
