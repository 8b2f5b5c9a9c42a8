/**
 * What a screen reader is told of the problems of a pack. In: those that it was told last, and those there are now.
 * Out: their number, and in words those that are new.
 */
import type { WireProblem } from '../../wire/mapping.ts';

/** So many new problems are told in words. */
const MOST = 3;

/** A notice says what the pack leaves out by choice, and is no problem. */
export function countInWords(problems: readonly WireProblem[]): string {
  const count = problems.filter(({ severity }) => severity !== 'notice').length;
  return count === 0 ? 'No problems' : `${count} ${count === 1 ? 'problem' : 'problems'}`;
}

/** Empty: nothing is new. A problem that only moved with its line is none. */
export function newsOf(before: readonly WireProblem[], now: readonly WireProblem[]): string {
  const known = new Set(before.map(nameOf));
  const fresh = now.filter(one => one.severity !== 'notice' && !known.has(nameOf(one)));
  const count = countInWords(now);
  if (fresh.length === 0) return count === countInWords(before) ? '' : count;
  const words = fresh
    .slice(0, MOST)
    .map(({ severity, place: { file, line }, text }) => `${severity} in ${file}, line ${line}: ${text}`);
  const more = fresh.length - MOST;
  return `${count}. New: ${[...words, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`;
}

function nameOf({ severity, place: { file }, text }: WireProblem): string {
  return `${severity} ${file} ${text}`;
}
