/**
 * `ymd-parts`: reads year, month and day in three integer columns; a month or day that is 0 or NULL is unknown. In:
 * three numbers. Out: a date or dateTime of that precision. A day without a month, or one that does not exist, is
 * absent. The inverse computes on the three columns, after a range of years that an index serves.
 */
import { INTEGER } from '../../sql/column-type.ts';
import {
  and,
  call,
  compare,
  constant,
  equals,
  FALSE,
  flag,
  given,
  isNull,
  not,
  or,
  value,
} from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { clip } from '../../time/range-set.ts';
import type { Zone } from '../../time/zone.ts';
import { rangePredicate } from '../ranges.ts';
import { type Codec, column } from './codec.ts';
import { isPacked } from './packed-column.ts';
import { LAST_PACKED, nextPacked, packedAfter, packedSatisfying, printPacked } from './packed-date.ts';
import { packedFromKey, packedKey } from './ymd8.ts';

const ZERO = constant(0, INTEGER);

/** Reads three columns: year, month, day. */
export function ymdPartsCodec({ zone }: { readonly zone: Zone }): Codec {
  return {
    label: 'ymd-parts',
    yields: ['date', 'dateTime'],
    columns: 3,
    plain: true,
    inverse: 'computed',
    decode: (year, month = null, day = null) => {
      const packed = pack(year, month, day);
      return packed === undefined ? undefined : printPacked(packed);
    },
    present: columns => or(...shapes(columns).map(shape => shape.when)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const set = clip(packedSatisfying(criterion.any, zone), 10_000, LAST_PACKED + 1);
      const [first] = set;
      const last = set.at(-1);
      if (!first || !last) return FALSE;
      const year = column(columns, 0);
      const literal = (at: number): Expression => value(at, INTEGER);
      const years = and(
        Number.isFinite(first.from) ? compare(year, '>=', literal(Math.floor(first.from / 10_000))) : not(isNull(year)),
        ...(Number.isFinite(last.to) ? [compare(year, '<=', literal(Math.floor((last.to - 1) / 10_000)))] : []),
      );
      const shaped = shapes(columns).map(({ when, packed }) =>
        and(when, rangePredicate(set, { column: packed, literal, next: packedAfter, present: when })),
      );
      return and(years, or(...shaped));
    },
    order: {
      by: columns => {
        const [year, month, day] = [column(columns, 0), column(columns, 1), column(columns, 2)];
        const [hasMonth, hasDay] = [not(unknown(month)), not(unknown(day))];
        return [year, flag(hasMonth), given(hasMonth, month), flag(hasDay), given(hasDay, day)];
      },
      toKey: ([year, hasMonth, month, hasDay, day]) => {
        const packed = pack(year ?? null, hasMonth === 1 ? (month ?? null) : 0, hasDay === 1 ? (day ?? null) : 0);
        return packed === undefined || printPacked(packed) === undefined ? undefined : packedKey(packed);
      },
      fromKey: key => {
        const packed = nextPacked(packedFromKey(String(key)));
        if (packed > LAST_PACKED) return undefined;
        const year = Math.floor(packed / 10_000);
        const month = Math.floor(packed / 100) % 100;
        const day = packed % 100;
        if (month === 0) return [year, 0];
        return day === 0 ? [year, 1, month, 0] : [year, 1, month, 1, day];
      },
    },
  };
}

interface Shape {
  readonly when: Predicate;
  /** The packed date if `when` holds. */
  readonly packed: Expression;
}

/** Returns a shape for each part that may be the last known one. NULL in one expression for all would make it NULL. */
function shapes(columns: readonly Expression[]): readonly Shape[] {
  const [year, month, day] = [column(columns, 0), column(columns, 1), column(columns, 2)];
  const shape = (parts: readonly Expression[], ...known: readonly Predicate[]): Shape => {
    const packed = call('ymd', parts, INTEGER);
    return { when: and(between(year, 1, 9999), ...known, isPacked(packed)), packed };
  };
  return [
    shape([year, month, day], between(month, 1, 12), between(day, 1, 31)),
    shape([year, month, ZERO], between(month, 1, 12), unknown(day)),
    shape([year, ZERO, ZERO], unknown(month), unknown(day)),
  ];
}

function unknown(part: Expression): Predicate {
  return or(isNull(part), equals(part, ZERO));
}

function between(part: Expression, low: number, high: number): Predicate {
  return and(compare(part, '>=', constant(low, INTEGER)), compare(part, '<=', constant(high, INTEGER)));
}

function pack(year: SqlValue, month: SqlValue, day: SqlValue): number | undefined {
  const [y, m, d] = [Number(year ?? Number.NaN), Number(month ?? 0), Number(day ?? 0)];
  if (!(y >= 1 && y <= 9999 && m >= 0 && m <= 12 && d >= 0 && d <= 31)) return undefined;
  return y * 10_000 + m * 100 + d;
}
