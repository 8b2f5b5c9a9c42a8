/**
 * `ymd8`: days as digits yyyymmdd in a CHAR(8) or INT column; `YYYYMM00` is a month, `YYYY0000` a year, anything that
 * is no date of the calendar is absent. In: text or number. Out: a date or dateTime of that precision. Local days of
 * the pack's zone.
 * https://hl7.org/fhir/R4/datatypes.html#date
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, pad, twoDigits } from '../../time/calendar.ts';
import { clip } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { areValues, rangePredicate } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { firstDay, LAST_PACKED, nextPacked, packedAfter, packedSatisfying, printPacked } from './packed-date.ts';
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
    small: false,
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
