/**
 * Stamps: one column that holds a packed date with or without a time of day, in an order that is that of time. In: how
 * the column holds them (StampColumn). Out: a codec that gives dateTimes with seconds, or the date alone where there is
 * no time; with a midnight for days alone also instants; as `date` the day as it is written.
 *
 * A stamp has a position: its packed date times SLOTS, and 0 for the date alone or the second of the day plus 1, up to
 * that of 24:00, which is the first moment of the next day. Positions are in the order of the stored values.
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
  /** The position of a raw value; undefined: it is no stamp. */
  position(raw: SqlValue): number | undefined;
  /** Likewise of a value of `compared`. */
  sorted(raw: SqlValue): number | undefined;
  /** The first value of `compared` at or after a position. */
  stored(position: number): SqlValue;
  /** Likewise, to compare with. */
  literal(position: number): Expression;
  /** Raw values of a packed date alone, if they are other digits. */
  raws?(packed: number): readonly (string | number)[];
  /** What is compared and sorted by. */
  compared(column: Expression): Expression;
  isStamp(column: Expression): Predicate;
  /** A stamp that is no month or year. */
  isMoment(column: Expression): Predicate;
  /** Several positions have one stored value, so that none is tested by equality. */
  readonly isCoarse?: boolean;
}

const SLOTS = 100_000;
const SECONDS = 86_400;
/** Of 24:00. */
const END_SLOT = SECONDS + 1;

/** The position of a packed date and, if there is a time, its second of the day. */
export function positionOf(packed: number, second?: number): number {
  return packed * SLOTS + (second === undefined ? 0 : second + 1);
}

/** The packed date of a position, which may be none of the calendar, and the second of the day. */
export function partsOf(position: number): { readonly packed: number; readonly second: number | undefined } {
  const packed = Math.floor(position / SLOTS);
  const slot = position - packed * SLOTS;
  return { packed, second: slot === 0 ? undefined : slot - 1 };
}

/**
 * The position of a packed date and of the digits hhmmss of a time, if there is one; undefined: they are none. 240000
 * is the end of a day that has a next one.
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

/** The digits hhmmss of a second of the day. */
export function clockDigits(second: number): string {
  return second === SECONDS ? END_OF_DAY : printTime(second * 1000).replaceAll(':', '');
}

export interface StampOptions {
  readonly label: string;
  readonly options?: CodecOptions;
  readonly zone: Zone;
  readonly fhirType: 'date' | 'dateTime' | 'instant';
  /** A day alone is its midnight, and a month or a year absent; without it such a value is the date alone. */
  readonly atMidnight: boolean;
}

/** Packed dates with a time of day or without. */
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

/** Before what comes after it in the keys of instants (src/time/instant-key.ts). */
const LAST_MOMENT = '23:59:59.9999999';
const LEAST = positionOf(10_000);
const BEYOND = positionOf(LAST_PACKED + 1);

/** With ends, which are those of the calendar where it had none. */
function within(set: RangeSet): RangeSet {
  return intersect(set, [{ from: LEAST, to: BEYOND }]);
}

/** The first position whose moment is at or after a second of local time: a midnight is the 24:00 of the day before. */
function positionFrom(second: number): number {
  const day = Math.floor(second / SECONDS);
  const ofDay = second - day * SECONDS;
  return ofDay === 0 ? positionOf(packDay(day - 1), SECONDS) : positionOf(packDay(day), ofDay);
}

function* datesBetween(from: number, to: number): Iterable<number> {
  for (let packed = nextPacked(Math.ceil(from / SLOTS)); packed * SLOTS < to; packed = packedAfter(packed))
    yield packed * SLOTS;
}

/** Positions around a key in ascending order; the first one whose key is not below it is among them. */
function positionsNear(key: string): readonly number[] {
  const { local, rest } = parseTimeKey(key);
  const second = Math.ceil((local + (rest > 0 ? 1 : 0)) / 1000);
  // The key of the first day alone is of the year 0.
  const day = key.startsWith('0000') ? FIRST_DAY : Math.floor(second / SECONDS);
  if (day >= END_DAY) return [];
  const ofDay = key.startsWith('0000') ? 0 : second - day * SECONDS;
  if (ofDay > 0) return [positionOf(packDay(day), ofDay)];
  const midnight = packDay(day);
  const dates: number[] = [];
  for (let packed = packedAfter(packDay(day - 1)); packed <= midnight; packed = packedAfter(packed)) dates.push(packed);
  return [positionOf(packDay(day - 1)) + END_SLOT, ...dates.map(date => positionOf(date)), positionOf(midnight, 0)];
}
