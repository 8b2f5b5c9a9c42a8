/**
 * Knows how number columns store numbers: the texts or numbers that arrive, what an exact text is compared with, and
 * bounds for doubles, which lie between neighbouring doubles. In: a column type, raw values, bounds as decimals. Out:
 * digits, values to bind.
 */
import { type ColumnType, holdsAnyNumber } from '../../sql/column-type.ts';
import { call, compare, FALSE, isNull, not, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { printNumber } from '../../sql/shared-functions.ts';
import type { NumberEdge } from '../criterion.ts';
import type { Codec } from './codec.ts';
import { ceilUnits, compareDecimals, floorUnits } from './decimal.ts';
import { canonicalNumber } from './number-text.ts';

/** The digits of a numeric column's value, as they are emitted; undefined for what is no number. */
export function columnDigits(raw: SqlValue): string | undefined {
  if (typeof raw === 'number') return printNumber(raw);
  return typeof raw === 'string' && NUMBER.test(raw) ? canonicalNumber(raw) : undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The value of a column of any numbers that is printed as this text; undefined if none is. */
export function valuePrinted(text: string, type: ColumnType): SqlValue | undefined {
  const scale = type.kind === 'decimal' ? type.scale : undefined;
  const point = scale ? `.${'0'.repeat(scale)}` : '';
  const whole = text.endsWith(point) ? text.slice(0, text.length - point.length) : '';
  if (/^(?:0|-?[1-9]\d{0,18})$/.test(whole) && isLong(BigInt(whole))) return whole;
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return printNumber(number, scale) === text ? number : undefined;
}

function isLong(number: bigint): boolean {
  return number < 2n ** 63n && number >= -(2n ** 63n);
}

/**
 * A column of doubles, or of any numbers, against a bound. A double has the digits that it is printed with, so it lies
 * on the side of the bound on which they lie; of integers beyond 2^53 all digits count.
 */
export function matchDouble(number: Expression, type: ColumnType, { op, at }: NumberEdge): Predicate {
  const near = Number(at);
  if (!Number.isFinite(near)) return op.startsWith('<') === near > 0 ? TRUE : FALSE;
  if (holdsAnyNumber(type) && Math.abs(near) >= 2 ** 53) {
    const units = op === '<' || op === '>=' ? ceilUnits(at, 0) : floorUnits(at, 0);
    if (isLong(units)) return compare(number, op, value(String(units), type));
  }
  const side = compareDecimals(printNumber(near) ?? '', at);
  const strict = side < 0 ? ({ '>=': '>', '>': '>', '<=': '<=', '<': '<=' } as const) : MORE;
  return compare(number, side === 0 ? op : strict[op], value(near, type));
}

/** What is printed as more than the bound. */
const MORE = { '>=': '>=', '>': '>=', '<=': '<', '<': '<' } as const;

/** The number is whole. */
export function isWhole(number: Expression): Predicate {
  return not(isNull(call('whole', [number], LONG)));
}

const LONG: ColumnType = { kind: 'integer', bits: 64 };

/** A codec of whole numbers on columns that may hold others, for which it has no value. */
export function onWholeNumbers(codec: Codec, types: readonly ColumnType[]): Codec {
  const isLoose = (at: number): boolean => {
    const type = types[at];
    return type !== undefined && type.kind === 'integer' && holdsAnyNumber(type);
  };
  if (!types.some((_, at) => isLoose(at))) return codec;
  const whole = (columns: readonly Expression[]): readonly Expression[] =>
    columns.map((column, at) => (isLoose(at) ? call('whole', [column], LONG) : column));
  const wholeRaw = (raw: SqlValue | undefined, at: number): SqlValue =>
    raw === undefined || (isLoose(at) && (typeof raw !== 'string' || !/^-?\d+$/.test(raw))) ? null : small(raw);
  const { order } = codec;
  return {
    ...codec,
    inverse: codec.inverse === 'none' ? 'none' : 'computed',
    decode: (a, b, c) => codec.decode(wholeRaw(a, 0), wholeRaw(b, 1), wholeRaw(c, 2)),
    present: (columns, clock) => codec.present(whole(columns), clock),
    match: (columns, criterion, clock) => codec.match(whole(columns), criterion, clock),
    ...(order
      ? { order: { ...order, by: columns => order.by(whole(columns)), toKey: raws => order.toKey(raws.map(small)) } }
      : {}),
  };
}

/** Whole numbers arrive as text from columns of 64 bits, and these codecs know them as numbers. */
function small(raw: SqlValue): SqlValue {
  return typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
}
