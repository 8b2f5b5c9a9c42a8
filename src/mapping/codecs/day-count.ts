/**
 * Describes how a column stores days counted from a day of the calendar, whole or with the time of day as a fraction.
 * In: its type, the day, and the number of units per day. Out: the position of a raw value, which is the number of
 * units since 1970-01-01, and the least value at a position, to compare the bare column with. A fraction is rounded to
 * the nearest unit: decimals and texts by their digits, floats by the product of doubles. Both grow with the value.
 */
import { type ColumnType, holdsAnyNumber, NUMBER } from '../../sql/column-type.ts';
import { isNull, not } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { nearestSingle } from '../../sql/shared-functions.ts';
import {
  floorUnits,
  isNumberText,
  MOST_DECIMALS,
  numberOf,
  parseNumberText,
  printUnits,
  trimmedText,
} from './decimal.ts';
import { unitRange } from './number.ts';
import { trim } from './text.ts';

export interface DayCount {
  readonly inverse: 'indexed' | 'computed';
  /** A position has at most one stored value. */
  readonly isSingle: boolean;
  /** Some values between those with a position have none. */
  readonly isSparse?: true;
  /** Positions of the least and the greatest value that the column can hold; undefined if there is no limit. */
  readonly least: number | undefined;
  readonly most: number | undefined;
  /** Returns the position of a raw value; undefined if it is no number. */
  position(raw: SqlValue): number | undefined;
  /** Returns the position of a value of `compared`, if those differ from raw values. */
  readonly sorted?: (raw: SqlValue) => number | undefined;
  /** Returns the least value of `compared` at or after a position. */
  stored(position: number): string | number;
  /** Returns the raw values of a day alone. */
  raws(day: number): readonly (string | number)[];
  /** Type of `stored`. */
  readonly type: ColumnType;
  /** Returns the expression to compare and sort by. */
  compared(column: Expression): Expression;
  /** Tests that the column has a value that may have a position. */
  isNumber(column: Expression): Predicate;
}

/** Counts whole days in a column of whole numbers. `since`: the day of the number 0, counted from 1970-01-01. */
export function wholeDays(type: ColumnType, since: number): DayCount {
  // SQLite may store more than the type declares.
  const held = holdsAnyNumber(type) ? undefined : unitRange(type);
  return {
    inverse: 'indexed',
    isSingle: true,
    least: held && Number(held.least) + since,
    most: held && Number(held.most) + since,
    position: raw => {
      const number = typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
      return typeof number === 'number' && Number.isInteger(number) ? number + since : undefined;
    },
    stored: position => position - since,
    raws: day => [day - since],
    type,
    compared: column => column,
    isNumber: column => not(isNull(column)),
  };
}

/** `perDay`: number of positions per day. */
export interface FractionOptions {
  readonly since: number;
  readonly perDay: number;
}

/** Counts days with a fraction, in a column of other numbers or of numeric texts; undefined for other types. */
export function fractionsOfDays(type: ColumnType, options: FractionOptions): DayCount | undefined {
  if (type.kind === 'text') return inTexts(options);
  if (type.kind === 'float' || (type.kind === 'decimal' && holdsAnyNumber(type)))
    return inFloats(type, options, type.kind === 'float' && type.single === true);
  return type.kind === 'decimal' ? inDecimals(type, options) : undefined;
}

function inFloats(type: ColumnType, { since, perDay }: FractionOptions, isSingle: boolean): DayCount {
  const before = since * perDay;
  const counted = (number: number): number => Math.floor(number * perDay + 0.5);
  const [up, down] = isSingle ? [singleAfter, singleBefore] : [doubleAfter, doubleBefore];
  return {
    inverse: 'indexed',
    isSingle: false,
    least: undefined,
    most: undefined,
    position: raw => {
      const number = typeof raw === 'string' && NUMERIC.test(raw) ? Number(raw) : raw;
      return typeof number === 'number' && Number.isFinite(number) ? counted(number) + before : undefined;
    },
    stored: position => {
      const at = position - before;
      let bound = isSingle ? nearestSingle((at - 0.5) / perDay) : (at - 0.5) / perDay;
      while (counted(bound) >= at) bound = down(bound);
      while (counted(bound) < at) bound = up(bound);
      return bound;
    },
    raws: day => [day - since],
    type,
    compared: column => column,
    isNumber: column => not(isNull(column)),
  };
}

const NUMERIC = /^-?\d+(?:\.\d+)?$/;

function inDecimals(type: ColumnType & { readonly kind: 'decimal' }, { since, perDay }: FractionOptions): DayCount {
  const { least, most } = unitRange(type);
  const { counted, unitsFrom } = roundedUnits(type.scale, perDay);
  const before = since * perDay;
  return {
    inverse: 'indexed',
    isSingle: false,
    least: counted(least) + before,
    most: counted(most) + before,
    position: raw => {
      const text = typeof raw === 'number' ? String(raw) : raw;
      return typeof text === 'string' && NUMERIC.test(text)
        ? counted(floorUnits(text, type.scale)) + before
        : undefined;
    },
    stored: position => numberIfExact(printUnits(unitsFrom(position - before), type.scale)),
    raws: day => [day - since],
    type,
    compared: column => column,
    isNumber: column => not(isNull(column)),
  };
}

/** Reads numbers as `number` does: at most fifteen characters, so that engines with binary floats distinguish them. */
function inTexts({ since, perDay }: FractionOptions): DayCount {
  const { counted, unitsFrom } = roundedUnits(MOST_DECIMALS, perDay);
  const before = since * perDay;
  const compared = (column: Expression): Expression => numberOf(trimmedText(column));
  return {
    inverse: 'computed',
    isSingle: false,
    least: undefined,
    most: undefined,
    position: raw => {
      const digits = typeof raw === 'string' ? parseNumberText(trim(raw)) : undefined;
      return digits === undefined ? undefined : counted(floorUnits(digits, MOST_DECIMALS)) + before;
    },
    sorted: raw => {
      if (raw === null || raw instanceof Uint8Array) return undefined;
      // A text of fifteen characters may arrive with zeros, or the noise of a float, after them.
      return counted(floorUnits(Number(raw).toPrecision(DIGITS), MOST_DECIMALS)) + before;
    },
    stored: position => {
      const units = unitsFrom(position - before);
      // No text has more digits than these after its point.
      const whole = String(units / 10n ** BigInt(MOST_DECIMALS)).length;
      const coarse = 10n ** BigInt(Math.max(0, MOST_DECIMALS - (DIGITS - 1 - whole)));
      return numberIfExact(printUnits(ceilTo(units, coarse), MOST_DECIMALS));
    },
    raws: day => [String(day - since)],
    type: NUMBER,
    compared,
    isNumber: column => isNumberText(trimmedText(column)),
  };
}

const DIGITS = 15;

/**
 * Converts between decimals, in units of their scale, and positions: the position of a decimal, and its first decimal.
 */
function roundedUnits(
  scale: number,
  perDay: number,
): { readonly counted: (units: bigint) => number; readonly unitsFrom: (count: number) => bigint } {
  const [one, day] = [10n ** BigInt(scale), BigInt(perDay)];
  return {
    counted: units => Number(-ceilOf(-(2n * units * day + one), 2n * one)),
    unitsFrom: count => ceilOf(one * (2n * BigInt(count) - 1n), 2n * day),
  };
}

function ceilOf(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return quotient * divisor < dividend ? quotient + 1n : quotient;
}

function ceilTo(units: bigint, step: bigint): bigint {
  return ceilOf(units, step) * step;
}

/** Returns a number if it has all digits, else the text. */
function numberIfExact(text: string): string | number {
  const digits = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return digits.replace(/^-?0*|\./g, '').length <= DIGITS ? Number(digits) : digits;
}

/** Returns the days of a count that has several positions per day. */
export function daysOf(count: DayCount, perDay: number): DayCount {
  const dayOf = (position: number): number => Math.floor(position / perDay);
  const dayIn =
    (read: DayCount['position']): DayCount['position'] =>
    raw => {
      const position = read(raw);
      return position === undefined ? undefined : dayOf(position);
    };
  return {
    ...count,
    least: count.least === undefined ? undefined : dayOf(count.least),
    most: count.most === undefined ? undefined : dayOf(count.most),
    position: dayIn(count.position),
    ...(count.sorted && { sorted: dayIn(count.sorted) }),
    stored: day => count.stored(day * perDay),
  };
}

const BITS = new DataView(new ArrayBuffer(8));

/** Returns the least double above a finite one. */
function doubleAfter(number: number): number {
  if (number === 0) return Number.MIN_VALUE;
  BITS.setFloat64(0, number);
  BITS.setBigInt64(0, BITS.getBigInt64(0) + (number > 0 ? 1n : -1n));
  return BITS.getFloat64(0);
}

function doubleBefore(number: number): number {
  return -doubleAfter(-number);
}

/** Returns the least single above one, as its shortest decimal. */
function singleAfter(number: number): number {
  BITS.setFloat32(0, number);
  const bits = BITS.getInt32(0);
  if (number === 0) BITS.setInt32(0, 1);
  else BITS.setInt32(0, bits + (number > 0 ? 1 : -1));
  return nearestSingle(BITS.getFloat32(0));
}

function singleBefore(number: number): number {
  return -singleAfter(-number);
}
