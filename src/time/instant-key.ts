/**
 * Sort keys of instants, which compare with those of local times (timeKey in stored-time.ts). In: an instant and the zone, or
 * a key. Out: the key, or the first count of a column whose key is at or after it. Local times go back when clocks do, and
 * instants do not: those of an hour's second time come after the last local time of that hour, and before the next one.
 */

import { DAY, pad } from './calendar.ts';
import { parseTimeKey, printLocal, timeKey } from './local.ts';
import type { Zone } from './zone.ts';

/** Of later instants the key is higher. `2024-11-03 01:59:59.9999999~01800000`: half an hour after clocks went back. */
export function instantKey(instant: number, zone: Zone): string {
  const offset = zone.offsetAt(instant);
  const local = instant + offset;
  // Local times that come twice are taken for the first of the two.
  const before = zone.offsetOf(local);
  if (before === offset) return timeKey(printLocal(local, 3));
  const end = least(local, local + before - offset, at => zone.offsetOf(at) === offset);
  return `${printLocal(end - 1, 3)}9999~${pad(instant + before - end, 8)}`;
}

export interface Counts {
  /** What is counted, in milliseconds. */
  readonly unit: number;
  readonly first: number;
  /** Behind the last. */
  readonly end: number;
}

/** The first count whose instant has a key at or after this one; undefined if there is none. */
export function countFromKey(key: string, zone: Zone, { unit, first, end }: Counts): number | undefined {
  const near = zone.toInstant(parseTimeKey(key).local);
  const within = (at: number): number => Math.min(end, Math.max(first, at));
  const [low, high] = [within(Math.floor((near - 2 * DAY) / unit)), within(Math.ceil((near + 2 * DAY) / unit))];
  const found = least(low, high, count => instantKey(count * unit, zone) >= key);
  return found < end ? found : undefined;
}

/** The least whole number from `low` on for which something holds, as it does for all above it; at most `high`. */
function least(low: number, high: number, holds: (at: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
