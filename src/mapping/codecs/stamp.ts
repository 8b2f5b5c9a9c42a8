/**
 * Reads stamps: one column of packed dates with or without a time of day, stored in the order of time. In: how the
 * column holds them (StampColumn). Out: a codec that gives dateTimes with seconds, or the date alone without a time.
 * With `atMidnight` it also gives instants. As `date` it gives the day as written.
 *
 * A stamp has a position: its packed date times SLOTS, plus 0 for the date alone, or plus the second of the day + 1.
 * The last second is that of 24:00, the first moment of the next day. Positions are in the order of the stored values.
 */

import { and } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, parseClock, printDay, printMoment, printTime } from '../../time/calendar.ts';
import { clip, intersect, mapEnds, overlay, type RangeSet } from '../../time/range-set.ts';
import { END_OF_DAY } from '../../time/written-form.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { rangePredicate } from '../ranges.ts';
import { type Codec, type CodecOptions, only } from './codec.ts';
import { SECOND, satisfying } from './date-interval.ts';
import {
  firstDay,
  LAST_PACKED,
  nextPacked,
  packDay,
  packedAfter,
  packedSatisfying,
  printPacked,
} from './packed-date.ts';

export interface StampColumn {
  readonly inverse: 'indexed' | 'computed';
  /** Returns the position of a raw value; undefined if it is no stamp. */
  position(raw: SqlValue): number | undefined;
  /** Returns the position of a value of `compared`. */
  sorted(raw: SqlValue): number | undefined;
  /** Returns the first value of `compared` at or after a position. */
  stored(position: number): SqlValue;
  /** Returns the same as a literal. */
  literal(position: number): Expression;
  /** Returns the raw values of a packed date alone, if their digits differ. */
  raws?(packed: number): readonly (string | number)[];
  /** Returns the expression to compare and sort by. */
  compared(column: Expression): Expression;
  isStamp(column: Expression): Predicate;
  /** Tests for a stamp that is no month or year. */
  isMoment(column: Expression): Predicate;
  /** Several positions share one stored value, so equality is never used. */
  readonly isCoarse?: boolean;
}

const SLOTS = 100_000;
const SECONDS = 86_400;
/** The slot of 24:00. */
const END_SLOT = SECONDS + 1;

/** Returns the position of a packed date and, if there is a time, its second of the day. */
export function positionOf(packed: number, second?: number): number {
  return packed * SLOTS + (second === undefined ? 0 : second + 1);
}

/** Returns the packed date of a position, which may not exist in the calendar, and the second of the day. */
export function partsOf(position: number): { readonly packed: number; readonly second: number | undefined } {
  const packed = Math.floor(position / SLOTS);
  const slot = position - packed * SLOTS;
  return { packed, second: slot === 0 ? undefined : slot - 1 };
}

/**
 * Returns the position of a packed date and of the digits hhmmss of a time, if there is one; undefined if they are
 * invalid. 240000 is the end of a day, except in the year 9999.
 */
export function positionIn(packed: number, clock: number | undefined): number | undefined {
  const printed = printPacked(packed);
  if (printed === undefined) return undefined;
  if (clock === undefined) return positionOf(packed);
  if (printed.length !== 10) return undefined;
  if (clock === Number(END_OF_DAY)) return printed.startsWith('9999') ? undefined : positionOf(packed, SECONDS);
  const local = parseClock(Math.floor(clock / 10_000), Math.floor(clock / 100) % 100, clock % 100);
  return local === undefined ? undefined : positionOf(packed, local / 1000);
}

/** Returns the digits hhmmss of a second of the day. */
export function clockDigits(second: number): string {
  return second === SECONDS ? END_OF_DAY : printTime(second * 1000).replaceAll(':', '');
}

export interface StampOptions {
  readonly label: string;
  readonly options?: CodecOptions;
  readonly zone: Zone;
  readonly fhirType: 'date' | 'dateTime' | 'instant';
  /** Reads a day alone as its midnight, and no months or years. If false, such values are emitted as dates. */
  readonly atMidnight: boolean;
}

/** Makes the codec of packed dates with or without a time of day. */
export function stampCodec(column: StampColumn, { label, options, zone, fhirType, atMidnight }: StampOptions): Codec {
  const length = fhirType === 'instant' ? 1 : 1000;
  const present = (of: Expression): Predicate => (atMidnight ? column.isMoment(of) : column.isStamp(of));
  const accepted = (any: readonly (readonly DateEdge[])[]): RangeSet => {
    const dates = within(mapEnds(clip(packedSatisfying(any, zone), 10_000, LAST_PACKED + 1), packed => packed * SLOTS));
    if (fhirType === 'date') return dates;
    const seconds = satisfying(any, zone, { ...SECOND, length });
    const moments = within(mapEnds(clip(seconds, FIRST_DAY * SECONDS, END_DAY * SECONDS), positionFrom));
    return atMidnight ? moments : overlay(moments, [{ accepted: dates, between: datesBetween }]);
  };
  const keyOf = (position: number): string => {
    const { packed, second } = partsOf(position);
    const text = pad(packed, 8);
    const date = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
    if (second === SECONDS) return `${date} ${LAST_MOMENT}~00000000`;
    if (second !== undefined) return `${date} ${printTime(second * 1000)}.0000000`;
    return atMidnight ? `${printDay(firstDay(packed) - 1)} ${LAST_MOMENT}~00000001` : date;
  };
  return {
    label,
    ...(options && { options }),
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: column.inverse,
    rawsOf: day => column.raws?.(Number(day.replaceAll('-', ''))) ?? [],
    decode: raw => {
      const position = column.position(raw);
      if (position === undefined) return undefined;
      const { packed, second } = partsOf(position);
      const date = printPacked(packed);
      if (fhirType === 'date' || (second === undefined && !atMidnight)) return date;
      if (date?.length !== 10) return undefined;
      const local = firstDay(packed) * DAY + (second ?? 0) * 1000;
      return printMoment(local, zone.offsetTextOf(local), fhirType);
    },
    present: columns => present(only(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const of = only(columns);
      const isOne = present(of);
      const within = rangePredicate(clip(accepted(criterion.any), LEAST, BEYOND), {
        column: column.compared(of),
        literal: column.literal,
        next: column.isCoarse ? undefined : position => position + 1,
        present: isOne,
      });
      return and(isOne, within);
    },
    order: {
      by: columns => [column.compared(only(columns))],
      toKey: ([raw]) => {
        const position = column.sorted(raw ?? null);
        return position === undefined ? undefined : keyOf(position);
      },
      fromKey: key => {
        const found = positionsNear(String(key)).find(position => keyOf(position) >= String(key));
        return found === undefined ? undefined : [column.stored(found)];
      },
    },
  };
}

/** Time in the keys of 24:00 and of days alone, which sort just before midnight (src/time/instant-key.ts). */
const LAST_MOMENT = '23:59:59.9999999';
const LEAST = positionOf(10_000);
const BEYOND = positionOf(LAST_PACKED + 1);

/** Replaces missing ends of a set by those of the calendar. */
function within(set: RangeSet): RangeSet {
  return intersect(set, [{ from: LEAST, to: BEYOND }]);
}

/** Returns the first position at or after a second of local time. A midnight is the 24:00 of the day before. */
function positionFrom(second: number): number {
  const day = Math.floor(second / SECONDS);
  const ofDay = second - day * SECONDS;
  return ofDay === 0 ? positionOf(packDay(day - 1), SECONDS) : positionOf(packDay(day), ofDay);
}

function* datesBetween(from: number, to: number): Iterable<number> {
  for (let packed = nextPacked(Math.ceil(from / SLOTS)); packed * SLOTS < to; packed = packedAfter(packed))
    yield packed * SLOTS;
}

/** Returns positions around a key in ascending order, including the first whose key is not below it. */
function positionsNear(key: string): readonly number[] {
  const { local, rest } = parseTimeKey(key);
  const second = Math.ceil((local + (rest > 0 ? 1 : 0)) / 1000);
  // The key of the first day alone is in the year 0.
  const day = key.startsWith('0000') ? FIRST_DAY : Math.floor(second / SECONDS);
  if (day >= END_DAY) return [];
  const ofDay = key.startsWith('0000') ? 0 : second - day * SECONDS;
  if (ofDay > 0) return [positionOf(packDay(day), ofDay)];
  const midnight = packDay(day);
  const dates: number[] = [];
  for (let packed = packedAfter(packDay(day - 1)); packed <= midnight; packed = packedAfter(packed)) dates.push(packed);
  return [positionOf(packDay(day - 1)) + END_SLOT, ...dates.map(date => positionOf(date)), positionOf(midnight, 0)];
}
