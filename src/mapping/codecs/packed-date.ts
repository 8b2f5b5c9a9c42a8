/**
 * Computes with packed dates, yyyymmdd as a number: 20240310 is a day, 20240300 a month, 20240000 a year. A year sorts
 * before its months and a month before its days. So a date criterion accepts one range, with a few values left out or
 * added near its ends.
 */

import { civil, dayOf, daysIn, isDay, pad, printDate, quotient } from '../../time/calendar.ts';
import type { RangeSet } from '../../time/range-set.ts';
import { mapEnds, overlay } from '../../time/range-set.ts';
import type { Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { satisfying, WHOLE_DAY, WHOLE_MONTH, WHOLE_YEAR } from './date-interval.ts';

/** Prints `2024-03-10`, `2024-03` or `2024` of a packed date; undefined if it is none. */
export function printPacked(packed: number): string | undefined {
  const { year, month, day } = unpack(packed);
  if (isDay(year, month, day)) return printDate(year, month, day);
  if (day !== 0 || !(year >= 1 && year <= 9999) || !(month >= 0 && month <= 12)) return undefined;
  return month === 0 ? pad(year, 4) : `${pad(year, 4)}-${pad(month, 2)}`;
}

/** Returns the valid packed dates whose interval satisfies a criterion. The ends are valid dates. */
export function packedSatisfying(any: readonly (readonly DateEdge[])[], zone: Zone): RangeSet {
  const days = mapEnds(satisfying(any, zone, WHOLE_DAY), packDay);
  const months = mapEnds(satisfying(any, zone, WHOLE_MONTH), packMonth);
  const years = mapEnds(satisfying(any, zone, WHOLE_YEAR), year => year * 10_000);
  const set = overlay(days, [
    { accepted: months, between: monthsBetween },
    { accepted: years, between: yearsBetween },
  ]);
  return mapEnds(set, nextPacked);
}

/** Packs the number of a day. (Local milliseconds cannot express a month, so months are packed separately.) */
export function packDay(day: number): number {
  const parts = civil(day);
  return parts.year * 10_000 + parts.month * 100 + parts.day;
}

/** Returns the lowest valid packed date at or after a number. */
export function nextPacked(packed: number): number {
  const { year, month, day } = unpack(packed);
  if (year < 1) return 10_000;
  if (month > 12) return (year + 1) * 10_000;
  if (month === 0) return day === 0 ? packed : year * 10_000 + 100;
  if (day > daysIn(year, month)) return nextPacked(year * 10_000 + (month + 1) * 100);
  return packed;
}

/** The last packed date that eight digits can hold. */
export const LAST_PACKED = 99_991_231;

/** Returns the lowest valid packed date after a number. */
export function packedAfter(packed: number): number {
  return nextPacked(packed + 1);
}

function unpack(packed: number): { year: number; month: number; day: number } {
  return { year: quotient(packed, 10_000), month: quotient(packed, 100) % 100, day: packed % 100 };
}

/** Packs a month, counted from the year 0. */
function packMonth(month: number): number {
  return Math.floor(month / 12) * 10_000 + ((month % 12) + 1) * 100;
}

function* monthsBetween(from: number, to: number): Iterable<number> {
  for (let year = Math.floor(from / 10_000); year <= Math.floor(to / 10_000); year++) {
    for (let month = 1; month <= 12; month++) {
      const packed = year * 10_000 + month * 100;
      if (packed >= from && packed < to) yield packed;
    }
  }
}

function* yearsBetween(from: number, to: number): Iterable<number> {
  for (let year = Math.ceil(from / 10_000); year * 10_000 < to; year++) yield year * 10_000;
}

/** Returns the first day of a valid packed date. */
export function firstDay(packed: number): number {
  const { year, month, day } = unpack(packed);
  return dayOf(year, Math.max(1, month), Math.max(1, day));
}
