/**
 * Converts times that are stored as numbers: seconds or milliseconds since 1970, Julian days. In: a number and its
 * unit.
 * Out: milliseconds since 1970-01-01T00:00Z; undefined outside the years that FHIR can write.
 * https://sqlite.org/lang_datefunc.html#time_values
 */
import { DAY, END_DAY, FIRST_DAY } from './calendar.ts';

export const EPOCH_UNITS = ['seconds', 'milliseconds', 'days'] as const;
export type EpochUnit = (typeof EPOCH_UNITS)[number];

/** Milliseconds of the Julian days up to 1970. */
const JULIAN_EPOCH = 2_440_587.5 * DAY;

/** Returns the instant that a number counts. Julian days are rounded to milliseconds as in SQLite. */
export function instantOfCount(count: number, unit: string): number | undefined {
  const instant =
    unit === 'days'
      ? Math.floor(count * DAY + 0.5) - JULIAN_EPOCH
      : unit === 'seconds'
        ? ofSeconds(count)
        : Math.floor(count);
  return instant >= FIRST_DAY * DAY && instant < END_DAY * DAY ? instant : undefined;
}

/** Returns the number that counts an instant. */
export function countOfInstant(instant: number, unit: EpochUnit): number {
  if (unit === 'days') return (instant + JULIAN_EPOCH) / DAY;
  return unit === 'seconds' ? instant / 1000 : instant;
}

/** Returns the last millisecond that is not after it: 0.123 s times 1,000 may be a little less than 123 ms. */
function ofSeconds(seconds: number): number {
  const near = Math.floor(seconds * 1000);
  if ((near + 1) / 1000 <= seconds) return near + 1;
  return near / 1000 > seconds ? near - 1 : near;
}
