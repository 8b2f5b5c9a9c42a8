/**
 * Makes sort keys of instants, which compare with those of local times (timeKey in zone.ts). In: an instant and the
 * zone, or a key. Out: the key, or the first count of a column whose key is at or after it. When clocks go back, local
 * times repeat but instants do not. Instants in the second pass of an hour sort after the last local time of that hour
 * and before the next one.
 */

import { DAY, END_DAY, FIRST_DAY, pad } from './calendar.ts';
import { firstWith, parseLocal, parseTimeKey, printLocal, timeKey, type Zone } from './zone.ts';

/**
 * Returns the key, which grows with the instant. `2024-11-03 01:59:59.9999999~01800000`: half an hour after clocks went
 * back. `rest`: units of 100 ns beyond the millisecond.
 */
export function instantKey(instant: number, zone: Zone, rest = 0): string {
  const second = repeatedHourAt(instant, zone);
  if (second) return `${second.prefix}${pad(instant - second.from, 8)}${rest > 0 ? pad(rest, 4) : ''}`;
  const key = timeKey(printLocal(instant + zone.offsetAt(instant), 3));
  return rest > 0 ? `${key.slice(0, -4)}${pad(rest, 4)}` : key;
}

/** Instants in the second pass of a repeated hour. */
export interface RepeatedHour {
  readonly from: number;
  readonly to: number;
  /**
   * Their keys begin with it. The milliseconds since `from` follow in eight digits, and the rest beyond these in four.
   */
  readonly prefix: string;
}

/** Returns the second pass around an instant; undefined if the local time of the instant denotes the instant itself. */
export function repeatedHourAt(instant: number, zone: Zone): RepeatedHour | undefined {
  const offset = zone.offsetAt(instant);
  const local = instant + offset;
  // A local time that occurs twice denotes the first instant.
  const before = zone.offsetOf(local);
  if (before === offset) return undefined;
  const end = firstWith(local, local + before - offset, at => zone.offsetOf(at) === offset);
  return { from: end - before, to: end - offset, prefix: `${printLocal(end - 1, 3)}9999~` };
}

const REPEATED_HOUR = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})9999~(\d{8})(?:\d{4})?$/;

/** True if a text is the key of such an instant. */
export function isRepeatedHourKey(key: string): boolean {
  return key.length >= 36 && REPEATED_HOUR.test(key);
}

/** Returns the instant of such a key; undefined for any other text. */
export function instantOfRepeatedHour(key: string, zone: Zone): number | undefined {
  const [, last = '', since] = REPEATED_HOUR.exec(key) ?? [];
  const local = since === undefined ? undefined : parseLocal(last);
  if (local === undefined) return undefined;
  return local + 1 - zone.offsetOf(local) + Number(since);
}

/** An instant, and the rest beyond its millisecond in units of 100 ns. */
export interface FineInstant {
  readonly at: number;
  readonly rest: number;
}

/** Returns the first instant whose key is at or after this one; undefined if it is not before `end`. */
export function fineFromKey(key: string, zone: Zone, ends: Omit<Counts, 'unit'>): FineInstant | undefined {
  const [, whole = key, beyond = ''] = FINE.exec(key) ?? [];
  const padded = whole.length === MILLISECONDS ? `${whole}0000` : whole;
  const at = countFromKey(padded, zone, { unit: 1, ...ends });
  if (at === undefined) return undefined;
  return { at, rest: instantKey(at, zone) === padded ? Number(beyond) : 0 };
}

/** The last four digits of a key with seven digits of a second. */
const FINE = /^(.{23}|.{36})(\d{4})$/;
const MILLISECONDS = 23;

export interface Counts {
  /** Milliseconds per count. */
  readonly unit: number;
  readonly first: number;
  /** After the last. */
  readonly end: number;
}

/** Returns the first count whose instant has a key at or after this one; undefined if there is none. */
export function countFromKey(key: string, zone: Zone, { unit, first, end }: Counts): number | undefined {
  const near = zone.toInstant(parseTimeKey(key).local);
  const within = (at: number): number => Math.min(end, Math.max(first, at));
  const [low, high] = [within(Math.floor((near - 2 * DAY) / unit)), within(Math.ceil((near + 2 * DAY) / unit))];
  const found = firstWith(low, high, count => instantKey(count * unit, zone) >= key);
  return found < end ? found : undefined;
}

/**
 * Returns the key, in the zone `to`, of a time that clocks in `from` showed; undefined for a text that is none. `text`:
 * a local time, or the key of a second pass in `from`.
 */
export function keyOfClock(text: string, from: Zone, to: Zone): string | undefined {
  const [, day, minute = '00:00', second = ':00', fraction = ''] = CLOCK_TIME.exec(text) ?? [];
  if (isRepeatedHourKey(text)) {
    const instant = instantOfRepeatedHour(text, from);
    return from === to || instant === undefined ? text : instantKey(instant, to);
  }
  const local = day === undefined ? undefined : parseLocal(`${day} ${minute}${second}`);
  if (local === undefined) return undefined;
  const own = `${day} ${minute}${second}.${fraction.padEnd(7, '0')}`;
  // At either end of the calendar the other clocks may show a year that no text has.
  if (from === to || local < (FIRST_DAY + 2) * DAY || local >= (END_DAY - 2) * DAY) return own;
  return instantKey(from.toInstant(local) + Number(own.slice(20, 23)), to, Number(own.slice(23)));
}

const CLOCK_TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?(?:\.(\d{1,7}))?)?$/;
