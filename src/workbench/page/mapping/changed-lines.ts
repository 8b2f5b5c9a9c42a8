/**
 * What an edit changes in a resource, line by line. In: lines of JSON before and now. Out: all lines in order, each as
 * it stands in both, as added, or as removed.
 */
import type { JsonLine } from './json-lines.ts';

export interface ChangedLine {
  readonly line: JsonLine;
  readonly change: 'same' | 'added' | 'removed';
}

/** More lines are not compared, for the table of the comparison grows with their product. */
const MOST = 1500;

export function changedLines(before: readonly JsonLine[], now: readonly JsonLine[]): readonly ChangedLine[] {
  if (before.length > MOST || now.length > MOST) return now.map(line => ({ line, change: 'same' }));
  const [old, fresh] = [before.map(textOf), now.map(textOf)];
  // Of each pair of beginnings how many lines the rests have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row) row[j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: ChangedLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < now.length) {
    const [was, is] = [before[i], now[j]];
    if (was && is && old[i] === fresh[j]) {
      found.push({ line: is, change: 'same' });
      i++;
      j++;
    } else if (was && (!is || at(i + 1, j) >= at(i, j + 1))) {
      found.push({ line: was, change: 'removed' });
      i++;
    } else if (is) {
      found.push({ line: is, change: 'added' });
      j++;
    }
  }
  return found;
}

/** A comma alone is no change. */
function textOf({ depth, before, value }: JsonLine): string {
  return `${depth} ${before}${value}`;
}
