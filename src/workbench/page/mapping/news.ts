/**
 * Composes the announcement of problems for screen readers. In: the problems that were announced last, and the current
 * ones. Out: their number, and the new ones in words.
 */
import type { WireProblem } from '../../wire/mapping.ts';

/** At most so many new problems are announced in words. */
const MOST = 3;

/** Returns the number of problems. Notices do not count, because they are about deliberate omissions. */
export function countInWords(problems: readonly WireProblem[]): string {
  const count = problems.filter(({ severity }) => severity !== 'notice').length;
  return count === 0 ? 'No problems' : `${count} ${count === 1 ? 'problem' : 'problems'}`;
}

/** Returns the announcement; empty if nothing is new. A problem that only moved to another line is not new. */
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
