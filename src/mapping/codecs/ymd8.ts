/**
 * `ymd8`: days as digits yyyymmdd in a CHAR(8) or INT column; `YYYYMM00` is a month, `YYYY0000` a year, anything that
 * is no date of the calendar is absent. In: text or number. Out: a date or dateTime of that precision. Local days of
 * the pack's zone.
 * https://hl7.org/fhir/R4/datatypes.html#date
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, glob, not, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, parseDay, printDay, printTime, twoDigits } from '../../time/calendar.ts';
import { clip } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { areValues, rangePredicate, successor } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { satisfying } from './date-interval.ts';
import {
  firstDay,
  LAST_PACKED,
  nextPacked,
  packDay,
  packedAfter,
  packedSatisfying,
  printPacked,
} from './packed-date.ts';
import { trimEnd } from './text.ts';

export interface Ymd8Options {
  readonly zone: Zone;
  readonly columnType: ColumnType;
}

/** Packed days, months and years. */
export function ymd8Codec({ zone, columnType }: Ymd8Options): Codec {
  return {
    label: 'ymd8',
    yields: ['date', 'dateTime'],
    columns: 1,
    plain: true,
    inverse: 'indexed',
    decode: raw => {
      const packed = readPacked(raw);
      return packed === undefined ? undefined : printPacked(packed);
    },
    present: columns => isPacked(only(columns)),
    match: (columns, criterion) =>
      criterion.kind === 'date' ? matchPacked(only(columns), columnType, zone, criterion.any) : undefined,
    order: {
      by: columns => [only(columns)],
      toKey: ([raw]) => {
        const packed = readPacked(raw ?? null);
        return packed === undefined || printPacked(packed) === undefined ? undefined : packedKey(packed);
      },
      fromKey: key => {
        const packed = packedFromKey(String(key));
        if (packed > LAST_PACKED) return undefined;
        return [columnType.kind === 'text' ? pad(packed, 8) : packed];
      },
    },
  };
}

export interface Ymd8AtOptions extends Ymd8Options {
  readonly fhirType: 'dateTime' | 'instant';
  /** The time of day that the mapping says, in milliseconds. */
  readonly at: number;
}

/** A packed day as the moment of it that the mapping says; months and years are absent. */
export function ymd8AtCodec({ zone, columnType, fhirType, at }: Ymd8AtOptions): Codec {
  const isDay = (column: Expression): Predicate => and(isPacked(column), not(glob(column, '*00')));
  const dayIn = (raw: SqlValue): number | undefined => parseDay(printPacked(readPacked(raw) ?? 0) ?? '');
  const stored = (day: number): SqlValue => (columnType.kind === 'text' ? pad(packDay(day), 8) : packDay(day));
  const ceiling = (local: number): number => Math.ceil((local - at) / DAY);
  const precision = { ceiling, length: fhirType === 'instant' ? 1 : 1000 };
  return {
    label: `ymd8 (at ${printTime(at)})`,
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: 'indexed',
    decode: raw => {
      const day = dayIn(raw);
      if (day === undefined) return undefined;
      const fraction = fhirType === 'instant' ? '.000' : '';
      return `${printDay(day)}T${printTime(at)}${fraction}${zone.offsetTextOf(day * DAY + at)}`;
    },
    present: columns => isDay(only(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = only(columns);
      const set = clip(satisfying(criterion.any, zone, precision), FIRST_DAY, END_DAY);
      const literal = (day: number): Expression => value(stored(day), columnType);
      const within = rangePredicate(set, { column, literal, next: successor, present: isDay(column) });
      return and(isDay(column), within);
    },
    order: {
      by: columns => [only(columns)],
      toKey: ([raw]) => {
        const day = dayIn(raw ?? null);
        return day === undefined ? undefined : `${printDay(day)} ${printTime(at)}.0000000`;
      },
      fromKey: key => {
        const { local, rest } = parseTimeKey(String(key));
        const day = Math.ceil((local + (rest > 0 ? 1 : 0) - at) / DAY);
        return day < END_DAY ? [stored(Math.max(day, FIRST_DAY))] : undefined;
      },
    },
  };
}

/** The eight digits of a raw value as a number, or undefined if it has others. */
export function readPacked(raw: SqlValue): number | undefined {
  if (typeof raw === 'number') return raw >= 10_000 && raw <= 99_999_999 ? raw : undefined;
  if (typeof raw !== 'string') return undefined;
  const text = trimEnd(raw);
  if (text.length !== 8) return undefined;
  const century = twoDigits(text, 0);
  const ofCentury = twoDigits(text, 2);
  const month = twoDigits(text, 4);
  const day = twoDigits(text, 6);
  if (century < 0 || ofCentury < 0 || month < 0 || day < 0) return undefined;
  return ((century * 100 + ofCentury) * 100 + month) * 100 + day;
}

/** The column holds a packed date. */
export function isPacked(column: Expression): Predicate {
  return { kind: 'packed-date', of: column, not: false };
}

/** The column holds a packed date whose interval satisfies the criterion. */
export function matchPacked(
  column: Expression,
  type: ColumnType,
  zone: Zone,
  any: readonly (readonly DateEdge[])[],
): Predicate {
  const set = clip(packedSatisfying(any, zone), 10_000, LAST_PACKED + 1);
  const present = isPacked(column);
  const literal = (at: number): Expression => value(type.kind === 'text' ? pad(at, 8) : at, type);
  const within = rangePredicate(set, { column, literal, next: packedAfter, present });
  // What equals a packed date is one.
  return areValues(set, packedAfter) ? within : and(present, within);
}

/** The sort key of a packed date: see timeKey. */
export function packedKey(packed: number): string {
  const text = pad(packed, 8);
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)} 00:00:00.0000000`;
}

/** The first packed date whose key is at or after a key. */
export function packedFromKey(key: string): number {
  const { packed, local, rest } = parseTimeKey(key);
  const first = firstDay(nextPacked(packed)) * DAY;
  return local > first || rest > 0 ? nextPacked(packed + 1) : nextPacked(packed);
}
