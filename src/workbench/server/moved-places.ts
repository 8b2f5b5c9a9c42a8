/**
 * Maps a place in a text to the edited text. In: files before and after. Out: a function from place to place. A changed
 * line corresponds to the line at the same position among its neighbors.
 */
import { getOrInsert } from '../../common/caches.ts';
import type { Position } from '../../mapping/model.ts';
import { sameLines } from '../wire/same-lines.ts';

/** Texts by path. */
type Texts = ReadonlyMap<string, string>;

export function movedPlaces(before: Texts, now: Texts): (place: Position) => Position {
  const byFile = new Map<string, (line: number) => number>();
  return place => {
    const [was, is] = [before.get(place.file), now.get(place.file)];
    if (was === undefined || is === undefined || was === is) return place;
    const move = getOrInsert(byFile, place.file, () => movedLines(was.split('\n'), is.split('\n')));
    return { ...place, line: move(place.line) };
  };
}

/** Returns the mapping of lines; lines count from 1. */
function movedLines(before: readonly string[], now: readonly string[]): (line: number) => number {
  const pairs = new Map(sameLines(before, now));
  return line => {
    const index = line - 1;
    const same = pairs.get(index);
    if (same !== undefined) return same + 1;
    // The line was moved unchanged.
    const text = before[index] ?? '';
    const at = now.indexOf(text);
    if (text.trim() !== '' && at >= 0 && now.indexOf(text, at + 1) < 0) return at + 1;
    let above = index - 1;
    while (above >= 0 && !pairs.has(above)) above--;
    let below = index + 1;
    while (below < before.length && !pairs.has(below)) below++;
    const first = (pairs.get(above) ?? -1) + 1;
    const last = Math.max(first, (pairs.get(below) ?? now.length) - 1);
    return Math.min(first + (index - above - 1), last) + 1;
  };
}
