/**
 * `ymd8`: reads days as digits yyyymmdd in a CHAR(8), INT or DECIMAL(8,0) column. `YYYYMM00` is a month, `YYYY0000` a
 * year; anything that is no date of the calendar is absent. `since: 1900` reads CYYMMDD. In: text or number. Out: a
 * date or dateTime of that precision. Local days of the pack's zone.
 * https://hl7.org/fhir/R4/datatypes.html#date
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, parseDay, printDay, printMoment, printTime } from '../../time/calendar.ts';
import { clip, contains } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { areValues, rangePredicate, successor } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { satisfying } from './date-interval.ts';
import { dateIn, type PackedColumn, packedColumn } from './packed-column.ts';
import {
  firstDay,
  LAST_PACKED,
  nextPacked,
  packDay,
  packedAfter,
  packedSatisfying,
  printPacked,
} from './packed-date.ts';

export interface Ymd8Options {
  readonly zone: Zone;
  readonly columnType: ColumnType;
  /** The year that the years of the column count from. */
  readonly since?: number | undefined;
}

/** Reads packed days, months and years. */
export function ymd8Codec({ zone, columnType, since }: Ymd8Options): Codec {
  const packing = packedColumn(columnType, since);
  return {
    label: labelOf(since),
    ...(since !== undefined && { options: { since } }),
    yields: ['date', 'dateTime'],
    columns: 1,
    plain: true,
    inverse: packing.inverse,
    rawsOf: day => packing.raws?.(Number(day.replaceAll('-', ''))) ?? [],
    decode: raw => {
      const packed = packing.read(raw);
      return packed === undefined ? undefined : printPacked(packed);
    },
    present: columns => packing.isDate(only(columns)),
    match: (columns, criterion) =>
      criterion.kind === 'date' ? matchPacked(only(columns), packing, zone, criterion.any) : undefined,
    order: {
      by: columns => [packing.compared(only(columns))],
      toKey: ([raw]) => {
        const packed = dateIn(raw, packing);
        return packed === undefined ? undefined : packedKey(packed);
      },
      fromKey: key => {
        const packed = packedFromKey(String(key));
        return packed > LAST_PACKED ? undefined : [packing.stored(packed)];
      },
    },
  };
}

function labelOf(since: number | undefined): string {
  return since === undefined ? 'ymd8' : `ymd8 since ${since}`;
}

export interface Ymd8AtOptions extends Ymd8Options {
  readonly fhirType: 'dateTime' | 'instant';
  /** Time of day that the mapping gives, in milliseconds. */
  readonly at: number;
}

/** Reads a packed day as a moment at the time of day of the mapping. Months and years are absent. */
export function ymd8AtCodec({ zone, columnType, since, fhirType, at }: Ymd8AtOptions): Codec {
  const packing = packedColumn(columnType, since);
  const dayIn = (raw: SqlValue): number | undefined => parseDay(printPacked(packing.read(raw) ?? 0) ?? '');
  const ceiling = (local: number): number => Math.ceil((local - at) / DAY);
  const precision = { ceiling, length: fhirType === 'instant' ? 1 : 1000 };
  return {
    label: `${labelOf(since)} (at ${printTime(at)})`,
    ...(since !== undefined && { options: { since } }),
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: packing.inverse,
    rawsOf: day => packing.raws?.(Number(day.replaceAll('-', ''))) ?? [],
    decode: raw => {
      const day = dayIn(raw);
      if (day === undefined) return undefined;
      return printMoment(day * DAY + at, zone.offsetTextOf(day * DAY + at), fhirType);
    },
    present: columns => packing.isDay(only(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = only(columns);
      const set = clip(satisfying(criterion.any, zone, precision), FIRST_DAY, END_DAY);
      const present = packing.isDay(column);
      const literal = (day: number): Expression => packing.literal(packDay(day));
      return and(present, rangePredicate(set, { column: packing.compared(column), literal, next: successor, present }));
    },
    order: {
      by: columns => [packing.compared(only(columns))],
      toKey: ([raw]) => {
        const day = dayIn(raw ?? null);
        return day === undefined ? undefined : `${printDay(day)} ${printTime(at)}.0000000`;
      },
      fromKey: key => {
        const { local, rest } = parseTimeKey(String(key));
        const day = Math.ceil((local + (rest > 0 ? 1 : 0) - at) / DAY);
        return day < END_DAY ? [packing.stored(packDay(Math.max(day, FIRST_DAY)))] : undefined;
      },
    },
  };
}

/** Tests that the column holds a packed date whose interval satisfies the criterion. */
export function matchPacked(
  column: Expression,
  packing: PackedColumn,
  zone: Zone,
  any: readonly (readonly DateEdge[])[],
): Predicate {
  const set = clip(packedSatisfying(any, zone), 10_000, LAST_PACKED + 1);
  const present = packing.isDate(column);
  const within = rangePredicate(set, {
    column: packing.compared(column),
    literal: packing.literal,
    next: packedAfter,
    present,
  });
  // A value that equals a packed date is one, so it needs no test for a date.
  const isNone = packing.none !== undefined && contains(set, packing.none);
  return areValues(set, packedAfter) && !isNone ? within : and(present, within);
}

/** Returns the sort key of a packed date (see timeKey). */
export function packedKey(packed: number): string {
  const text = pad(packed, 8);
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)} 00:00:00.0000000`;
}

/** Returns the first packed date whose key is at or after a key. */
export function packedFromKey(key: string): number {
  const { packed, local, rest } = parseTimeKey(key);
  const first = firstDay(nextPacked(packed)) * DAY;
  return local > first || rest > 0 ? nextPacked(packed + 1) : nextPacked(packed);
}
