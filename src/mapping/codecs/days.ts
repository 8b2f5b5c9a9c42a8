/**
 * `days`: reads numbers of days since a day of the calendar, as Clarion, Excel, Access, MUMPS and Unix count them. In:
 * a number of a column (day-count.ts). Out: the day, or with `at` the moment that the mapping gives. Numbers with a
 * fraction give the local time, to the second as a dateTime and to the millisecond as an instant. Days and times are
 * those of the pack's zone. Days outside the years 0001 to 9999 are absent.
 * https://hl7.org/fhir/R4/datatypes.html#date
 */
import { and, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { DAY, dayOf, END_DAY, FIRST_DAY, parseDay, printDay, printMoment, printTime } from '../../time/calendar.ts';
import { clip, EVERYTHING, overlay, type RangeSet } from '../../time/range-set.ts';
import { parseTimeKey, printLocal, timeKey, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { areValues, outerBounds, rangePredicate, successor } from '../ranges.ts';
import { type Codec, type CodecOptions, only, standing } from './codec.ts';
import { type Precision, satisfying, WHOLE_DAY } from './date-interval.ts';
import type { DayCount } from './day-count.ts';
import type { PackedColumn } from './packed-column.ts';
import { firstDay, nextPacked, packDay } from './packed-date.ts';

/** No patient was born before this day. If days count from an earlier one, 0 and negative numbers mean no date. */
const OLDEST = dayOf(1900, 1, 1);

/** Returns the first day that such numbers mean. */
export function firstCounted(since: number): number {
  return since < OLDEST ? Math.max(since + 1, FIRST_DAY) : FIRST_DAY;
}

export interface DaysOptions {
  readonly zone: Zone;
  readonly count: DayCount;
  /** Milliseconds per position. */
  readonly unit: number;
  /** The first valid day, counted from 1970-01-01. */
  readonly first: number;
  /** Name as written in a mapping. */
  readonly name: string;
  readonly options: CodecOptions;
  readonly gives: 'day' | 'dateTime' | 'instant';
  /** Milliseconds added to a position that is a whole day. */
  readonly at?: number | undefined;
  /** A time of 00:00:00 means that no time is known. */
  readonly midnight?: 'date' | undefined;
}

/** Reads numbers of days as days, or as local times. */
export function daysCodec(made: DaysOptions): Codec {
  const { zone, count, unit, options, gives, at, midnight } = made;
  const local = at ?? 0;
  const ofDay = DAY / unit;
  const ends = { first: made.first * ofDay, end: END_DAY * ofDay };
  const length = gives === 'instant' ? 1 : 1000;
  const ceiling = (to: number): number => Math.ceil((to - local) / unit);
  const precision: Precision = gives === 'day' ? WHOLE_DAY : { ceiling, length };
  const within = (column: Expression, set: RangeSet): Predicate => inCounts(column, count, ends, set);
  const held = (position: number | undefined): number | undefined =>
    position !== undefined && position >= ends.first && position < ends.end ? position : undefined;
  const accepted = (any: readonly (readonly DateEdge[])[]): RangeSet => {
    const set = satisfying(any, zone, precision);
    if (midnight === undefined) return set;
    const days = satisfying(any, zone, WHOLE_DAY).map(({ from, to }) => ({ from: from * ofDay, to: to * ofDay }));
    return overlay(set, [{ accepted: days, between: (from, to) => midnights(from, to, ofDay) }]);
  };
  return {
    label: labelOf(made.name, at, midnight),
    options: { ...options, ...(at !== undefined && { at: printTime(at) }) },
    yields: gives === 'day' ? ['date', 'dateTime'] : [gives],
    columns: 1,
    plain: true,
    inverse: count.inverse,
    rawsOf: text => {
      const day = parseDay(text);
      return day === undefined || day * ofDay < ends.first ? [] : count.raws(day);
    },
    decode: raw => {
      const position = held(count.position(raw));
      if (position === undefined) return undefined;
      const moment = position * unit + local;
      if (gives === 'day' || (midnight === 'date' && moment % DAY === 0)) return printDay(Math.floor(moment / DAY));
      return printMoment(moment, zone.offsetTextOf(moment), gives);
    },
    present: columns => within(only(columns), EVERYTHING),
    match: (columns, criterion) =>
      criterion.kind === 'date' ? within(only(columns), accepted(criterion.any)) : undefined,
    order: {
      by: columns => [count.inverse === 'computed' ? count.compared(only(columns)) : standing(columns)],
      toKey: ([raw]) => {
        const position = held((count.sorted ?? count.position)(raw ?? null));
        return position === undefined ? undefined : timeKey(printLocal(position * unit + local, 3));
      },
      fromKey: key => {
        const { local: at, rest } = parseTimeKey(String(key));
        // The key of the first day alone may be in the year 0.
        const isFirst = String(key).startsWith('0000');
        const found = isFirst ? ends.first : Math.ceil((at + (rest > 0 ? 1 : 0) - local) / unit);
        const from = Math.max(found, ends.first, count.least ?? found);
        return from < ends.end && from <= (count.most ?? from) ? [count.stored(from)] : undefined;
      },
    },
  };
}

function labelOf(name: string, at: number | undefined, midnight: 'date' | undefined): string {
  if (at !== undefined) return `${name} (at ${printTime(at)})`;
  return midnight === undefined ? name : `${name} (midnight: ${midnight})`;
}

function* midnights(from: number, to: number, ofDay: number): Iterable<number> {
  for (let at = Math.ceil(from / ofDay) * ofDay; at < to; at += ofDay) yield at;
}

/** Describes a column of counted days as one of packed dates. */
export function countedDays({ count, first: firstOfAll }: Pick<DaysOptions, 'count' | 'first'>): PackedColumn {
  const all = { first: firstOfAll, end: END_DAY };
  const first = Math.max(all.first, count.least ?? all.first);
  const end = Math.min(all.end, (count.most ?? all.end) + 1);
  const isDate = (column: Expression): Predicate => inCounts(column, count, all, EVERYTHING);
  const dayFrom = (packed: number): number => Math.max(firstDay(nextPacked(packed)), first);
  return {
    inverse: count.inverse,
    read: raw => {
      const day = (count.sorted ?? count.position)(raw);
      return day !== undefined && day >= all.first && day < all.end ? packDay(day) : undefined;
    },
    stored: packed => count.stored(dayFrom(packed)),
    literal: packed => value(count.stored(dayFrom(packed)), count.type),
    compared: count.compared,
    isDate,
    isDay: isDate,
    ends: { first, end },
  };
}

/** Tests that the column holds a number whose position lies between the ends and in a set. */
function inCounts(
  column: Expression,
  count: DayCount,
  { first, end }: { readonly first: number; readonly end: number },
  set: RangeSet,
): Predicate {
  const [least, beyond] = [Math.max(count.least ?? first, first), Math.min((count.most ?? end) + 1, end)];
  const clipped = clip(set, least, beyond);
  const compared = count.compared(column);
  const literal = (at: number): Expression => value(count.stored(at), count.type);
  // Values outside are no numbers of a sparse count, so they need no bounds.
  const outer = outerBounds(
    compared,
    clipped,
    least === first && !count.isSparse ? literal(first) : undefined,
    beyond === end && !count.isSparse ? literal(end) : undefined,
  );
  const found = rangePredicate(clipped, {
    column: compared,
    literal,
    next: count.isSingle ? successor : undefined,
    present: outer.kind === 'true' ? count.isNumber(column) : TRUE,
  });
  const isSure = count.inverse === 'indexed' && (!count.isSparse || areValues(clipped, successor));
  return isSure ? and(found, outer) : and(count.isNumber(column), found, outer);
}

/** Converts `1840-12-31` to days since 1970-01-01. Day 0 of Julian day numbers is a day that FHIR cannot write. */
export function epochDay(text: string): number | undefined {
  return text === JULIAN ? JULIAN_DAY : parseDay(text.length === 10 ? text : '');
}

const JULIAN = '-4713-11-24';
const JULIAN_DAY = -2_440_588;
