/**
 * `number`: reads numeric columns, and numbers in text columns by an exact grammar, as decimal, integer, positiveInt or
 * unsignedInt. It also tells other codecs how number columns store numbers. In: a number or text. Out: a number with
 * the digits of the source; with `scale` without zeros that come only from the column's scale. A number that the FHIR
 * type forbids is absent. Bounds are rounded to what the column can hold, exactly and outside the database, so that no
 * engine rounds.
 * https://hl7.org/fhir/R4/datatypes.html#decimal
 */
import { type ColumnType, holdsAnyNumber, NUMBER } from '../../sql/column-type.ts';
import { and, call, compare, FALSE, glob, isNull, not, or, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { nearestSingle, printNumber } from '../../sql/shared-functions.ts';
import type { NumberEdge } from '../criterion.ts';
import { type Codec, only, type Primitive, standing } from './codec.ts';
import {
  canonicalNumber,
  ceilUnits,
  compareDecimals,
  floorUnits,
  isNumberText,
  MOST_DECIMALS,
  numberOf,
  parseNumberText,
  printUnits,
  trimmedText,
} from './decimal.ts';
import { trim } from './text.ts';

export type NumericFhirType = 'decimal' | 'integer' | 'positiveInt' | 'unsignedInt';

export interface NumberOptions {
  readonly columnType: ColumnType;
  readonly fhirType: NumericFhirType;
  /** Removes zeros beyond so many digits after the point; without it all digits of the column stay. */
  readonly scale?: number;
}

/** FHIR's integers have 32 bits. */
const MOST = 2_147_483_647;
const LEAST: Readonly<Record<Exclude<NumericFhirType, 'decimal'>, number>> = {
  integer: -2_147_483_648,
  unsignedInt: 0,
  positiveInt: 1,
};

/** Reads numbers of a numeric column, or of a text column that holds numbers. */
export function numberCodec({ columnType, fhirType, scale }: NumberOptions): Codec {
  const inText = columnType.kind === 'text';
  const operand = (columns: readonly Expression[]): Expression =>
    inText ? numberOf(trimmedText(only(columns))) : only(columns);
  const isLoose = holdsAnyNumber(columnType);
  const present = (columns: readonly Expression[]): Predicate => {
    const given = inText ? isNumberText(trimmedText(only(columns))) : not(isNull(only(columns)));
    return and(given, permitted(columns, operand(columns), columnType, fhirType));
  };
  return {
    label: 'number',
    yields: [fhirType],
    columns: 1,
    small: inText,
    inverse: inText ? 'computed' : 'indexed',
    decode: raw => {
      const digits = inText ? textDigits(raw) : columnDigits(raw);
      if (digits === undefined) return undefined;
      // `2.00` of a decimal column is 2: its zeros come from the column.
      if (fhirType !== 'decimal' && !inText) return typed(trimZeros(digits), fhirType);
      return typed(scale === undefined ? digits : atScale(digits, scale), fhirType);
    },
    present,
    match: (columns, criterion) => {
      if (criterion.kind !== 'number') return undefined;
      const any = criterion.any.map(edges => and(...edges.map(edge => matchEdge(operand(columns), columnType, edge))));
      return and(present(columns), or(...any));
    },
    order: {
      by: columns => [inText ? operand(columns) : standing(columns)],
      toKey: ([raw]) => {
        // A key is compared as a binary float, so a number that would lose a digit has none.
        const digits = columnDigits(raw ?? null);
        if (digits === undefined) return undefined;
        // A text of fifteen characters may arrive with the noise of a float after them.
        if (inText) return Number(Number(digits).toPrecision(15));
        if (isLoose || columnType.kind === 'float') {
          const key = Number(digits);
          return columnDigits(key) === trimZeros(digits) ? key : undefined;
        }
        return significant(digits) <= 15 ? Number(digits) : undefined;
      },
      fromKey: key => [Number(key)],
    },
  };
}

/** Returns the digits of a number in a text column; undefined if it is none. */
function textDigits(raw: SqlValue): string | undefined {
  return typeof raw === 'string' ? parseNumberText(trim(raw)) : undefined;
}

function significant(digits: string): number {
  return trimZeros(digits).replace(/^-?[0.]*|\./g, '').length;
}

function typed(digits: string, fhirType: NumericFhirType): Primitive | undefined {
  if (fhirType === 'decimal') return { decimal: digits };
  if (!/^-?\d+$/.test(digits)) return undefined;
  const number = Number(digits);
  return number >= LEAST[fhirType] && number <= MOST ? number : undefined;
}

/** Tests that the FHIR type can hold the number. */
function permitted(
  columns: readonly Expression[],
  number: Expression,
  columnType: ColumnType,
  fhirType: NumericFhirType,
): Predicate {
  if (fhirType === 'decimal') return TRUE;
  const isOther =
    columnType.kind === 'float' ||
    (columnType.kind === 'decimal' && columnType.scale > 0) ||
    holdsAnyNumber(columnType);
  const whole =
    columnType.kind === 'text' ? not(glob(trimmedText(only(columns)), '*.*')) : isOther ? isWhole(number) : TRUE;
  return and(
    whole,
    matchEdge(number, columnType, { op: '>=', at: String(LEAST[fhirType]) }),
    matchEdge(number, columnType, { op: '<=', at: String(MOST) }),
  );
}

/** Compares a number expression of a column with a bound, rounded to the column's scale, outwards or inwards. */
export function matchEdge(number: Expression, columnType: ColumnType, { op, at }: NumberEdge): Predicate {
  if (columnType.kind === 'float' || holdsAnyNumber(columnType)) return matchDouble(number, columnType, { op, at });
  const scale = columnType.kind === 'decimal' ? columnType.scale : columnType.kind === 'text' ? MOST_DECIMALS : 0;
  const up = op === '<' || op === '>=';
  const units = up ? ceilUnits(at, scale) : floorUnits(at, scale);
  const { least, most } = unitRange(columnType);
  // All values of the column are on the same side of a bound outside its range.
  if (units > most) return op === '<' || op === '<=' ? TRUE : FALSE;
  if (units < least) return op === '>' || op === '>=' ? TRUE : FALSE;
  const type = columnType.kind === 'text' ? NUMBER : columnType;
  const text = canonicalNumber(trimZeros(printUnits(units, scale)));
  const literal = columnType.kind === 'integer' && columnType.bits < 64 ? Number(text) : text;
  return compare(number, op, value(columnType.kind === 'bit' ? Number(text) : literal, type));
}

/** Returns the lowest and highest number of units of its scale that a column holds. */
export function unitRange(type: ColumnType): { readonly least: bigint; readonly most: bigint } {
  if (type.kind === 'integer' && type.bits === 8) return { least: 0n, most: 255n };
  if (type.kind === 'integer') {
    const half = 1n << BigInt(type.bits - 1);
    return { least: -half, most: half - 1n };
  }
  if (type.kind === 'bit') return { least: 0n, most: 1n };
  const digits = type.kind === 'decimal' ? type.precision : 15 + MOST_DECIMALS;
  const most = 10n ** BigInt(digits) - 1n;
  return { least: -most, most };
}

/** Formats `151.0000` as `151` at scale 0, as `151.0` at scale 1. Digits other than zero stay. */
function atScale(digits: string, scale: number): string {
  const [whole = '', fraction = ''] = digits.split('.');
  const meant = fraction.slice(0, scale) + fraction.slice(scale).replace(/0+$/, '');
  return meant === '' ? whole : `${whole}.${meant}`;
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Returns the digits of a numeric column's value as emitted; undefined if it is no number. */
export function columnDigits(raw: SqlValue): string | undefined {
  if (typeof raw === 'number') return printNumber(raw);
  return typeof raw === 'string' && DECIMAL.test(raw) ? canonicalNumber(raw) : undefined;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** Returns the value of a column of any numbers that prints as this text; undefined if none does. */
export function valuePrinted(text: string, type: ColumnType): SqlValue | undefined {
  const scale = type.kind === 'decimal' ? type.scale : undefined;
  const point = scale ? `.${'0'.repeat(scale)}` : '';
  const whole = text.endsWith(point) ? text.slice(0, text.length - point.length) : '';
  if (/^(?:0|-?[1-9]\d{0,18})$/.test(whole) && isLong(BigInt(whole))) return whole;
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return printNumber(number, scale) === text ? number : undefined;
}

function isLong(number: bigint): boolean {
  return number < 2n ** 63n && number >= -(2n ** 63n);
}

/**
 * Compares a column of floats, or of any numbers, with a bound. A float counts with its printed digits, so it lies on
 * the side of the bound where they lie. Integers beyond 2^53 count with all digits.
 */
export function matchDouble(number: Expression, type: ColumnType, { op, at }: NumberEdge): Predicate {
  const near = type.kind === 'float' && type.single ? nearestSingle(Number(at)) : Number(at);
  if (!Number.isFinite(near)) return op.startsWith('<') === near > 0 ? TRUE : FALSE;
  if (holdsAnyNumber(type) && Math.abs(near) >= 2 ** 53) {
    const units = op === '<' || op === '>=' ? ceilUnits(at, 0) : floorUnits(at, 0);
    if (isLong(units)) return compare(number, op, value(String(units), type));
  }
  const side = compareDecimals(printNumber(near) ?? '', at);
  const strict = side < 0 ? ({ '>=': '>', '>': '>', '<=': '<=', '<': '<=' } as const) : MORE;
  return compare(number, side === 0 ? op : strict[op], value(near, type));
}

/** Operators if the double prints as more than the bound. */
const MORE = { '>=': '>=', '>': '>=', '<=': '<', '<': '<' } as const;

/** Tests that the number is whole and has 64 bits. */
export function isWhole(number: Expression): Predicate {
  return not(isNull(call('whole', [number], LONG)));
}

const LONG: ColumnType = { kind: 'integer', bits: 64 };

/** Adapts a codec of whole numbers to columns that may hold others, which are absent. */
export function onWholeNumbers(codec: Codec, types: readonly ColumnType[]): Codec {
  const isLoose = (at: number): boolean => {
    const type = types[at];
    return type !== undefined && (type.kind === 'integer' || type.kind === 'decimal') && holdsAnyNumber(type);
  };
  if (!types.some((_, at) => isLoose(at))) return codec;
  const whole = (columns: readonly Expression[]): readonly Expression[] =>
    columns.map((column, at) => (isLoose(at) ? call('whole', [column], LONG) : column));
  const wholeRaw = (raw: SqlValue | undefined, at: number): SqlValue =>
    raw === undefined || (isLoose(at) && (typeof raw !== 'string' || !/^-?\d+$/.test(raw))) ? null : small(raw);
  const { order } = codec;
  return {
    ...codec,
    inverse: 'computed',
    decode: (a, b, c) => codec.decode(wholeRaw(a, 0), wholeRaw(b, 1), wholeRaw(c, 2)),
    present: (columns, clock) => codec.present(whole(columns), clock),
    match: (columns, criterion, clock) => codec.match(whole(columns), criterion, clock),
    ...(order
      ? { order: { ...order, by: columns => order.by(whole(columns)), toKey: raws => order.toKey(raws.map(small)) } }
      : {}),
  };
}

/** Converts whole numbers from columns of 64 bits, which arrive as text, to numbers, as these codecs expect. */
function small(raw: SqlValue): SqlValue {
  return typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
}
