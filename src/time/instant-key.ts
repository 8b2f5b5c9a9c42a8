/**
 * Sort keys of instants, which compare with those of local times (timeKey in stored-time.ts). In: an instant and the
 * zone, or a key. Out: the key, or the first count of a column whose key is at or after it. Local times go back when
 * clocks do, and instants do not: those of an hour's second time come after the last local time of that hour, and
 * before the next one.
 */

import { DAY, pad } from './calendar.ts';
import { firstWith, parseLocal, parseTimeKey, printLocal, timeKey, type Zone } from './zone.ts';

/**
 * Of later instants the key is higher. `2024-11-03 01:59:59.9999999~01800000`: half an hour after clocks went back.
 * `rest`: units of 100 ns beyond the millisecond.
 */
export function instantKey(instant: number, zone: Zone, rest = 0): string {
  const second = secondTimes(instant, zone);
  if (second) return `${second.prefix}${pad(instant - second.from, 8)}${rest > 0 ? pad(rest, 4) : ''}`;
  const key = timeKey(printLocal(instant + zone.offsetAt(instant), 3));
  return rest > 0 ? `${key.slice(0, -4)}${pad(rest, 4)}` : key;
}

/** Instants whose local times come a second time, as their keys have them. */
export interface SecondTimes {
  readonly from: number;
  readonly to: number;
  /**
   * Stands in their keys before the eight digits of the milliseconds since `from`, and four of what is beyond these.
   */
  readonly prefix: string;
}

/** Those around an instant; undefined for one whose local time is taken for its own. */
export function secondTimes(instant: number, zone: Zone): SecondTimes | undefined {
  const offset = zone.offsetAt(instant);
  const local = instant + offset;
  // Local times that come twice are taken for the first of the two.
  const before = zone.offsetOf(local);
  if (before === offset) return undefined;
  const end = firstWith(local, local + before - offset, at => zone.offsetOf(at) === offset);
  return { from: end - before, to: end - offset, prefix: `${printLocal(end - 1, 3)}9999~` };
}

const SECOND_TIME = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})9999~(\d{8})(?:\d{4})?$/;

/** Whether a text is the key of such an instant. */
export function isSecondTime(key: string): boolean {
  return key.length >= 36 && SECOND_TIME.test(key);
}

/** The instant of such a key; undefined for any other. */
export function instantOfSecondTime(key: string, zone: Zone): number | undefined {
  const [, last = '', since] = SECOND_TIME.exec(key) ?? [];
  const local = since === undefined ? undefined : parseLocal(last);
  if (local === undefined) return undefined;
  return local + 1 - zone.offsetOf(local) + Number(since);
}

/** An instant and what is beyond its millisecond, in units of 100 ns. */
export interface FineInstant {
  readonly at: number;
  readonly rest: number;
}

/** The first of these whose key is at or after this one; undefined: it is not before `end`. */
export function fineFromKey(key: string, zone: Zone, ends: Omit<Counts, 'unit'>): FineInstant | undefined {
  const [, whole = key, beyond = ''] = FINE.exec(key) ?? [];
  const padded = whole.length === MILLISECONDS ? `${whole}0000` : whole;
  const at = countFromKey(padded, zone, { unit: 1, ...ends });
  if (at === undefined) return undefined;
  return { at, rest: instantKey(at, zone) === padded ? Number(beyond) : 0 };
}

/** The four last digits of a key that has seven of a second. */
const FINE = /^(.{23}|.{36})(\d{4})$/;
const MILLISECONDS = 23;

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
  const found = firstWith(low, high, count => instantKey(count * unit, zone) >= key);
  return found < end ? found : undefined;
}
