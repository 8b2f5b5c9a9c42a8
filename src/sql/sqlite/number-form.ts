/**
 * Checks the values of a number column. In: a stored value, or a column in SQL, and the declared type. Out: the value's
 * form in words, without the value; and SQL that is true exactly for values of the declared type. These compare
 * unchanged, arrive as numbers and keep their digits.
 */
import { type ColumnType, holdsAnyNumber } from '../column-type.ts';

/** The form of values that fit the declared type. */
export const AS_DECLARED = 'a number as declared';

/** Up to this many digits, a double prints the digits that it was written with, in SQLite and in JavaScript. */
const SURE_DIGITS = 15;
/** Beyond it some whole numbers are no doubles. */
const SAFE = 2 ** 53 - 1;
const WHOLE_OF_BITS = { 8: [0, 255], 16: [-(2 ** 15), 2 ** 15 - 1], 32: [-(2 ** 31), 2 ** 31 - 1] } as const;

/** Returns the form of a stored value that is not NULL; whole numbers come as bigint. */
export function formOfNumber(value: unknown, type: ColumnType): string {
  if (typeof value === 'string') return value.trim() === '' ? 'a blank text' : 'a text';
  if (typeof value !== 'number' && typeof value !== 'bigint') return 'bytes';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'an infinite number';
  if (isAsDeclared(value, type)) return AS_DECLARED;
  if (typeof value === 'number' && type.kind !== 'decimal' && !Number.isInteger(value))
    return 'a number with a fraction';
  return type.kind === 'decimal' ? 'a number with more digits than declared' : 'a number out of range';
}

function isAsDeclared(value: number | bigint, type: ColumnType): boolean {
  switch (type.kind) {
    case 'integer':
    case 'bit': {
      const [least, most] = wholeRange(type);
      return typeof value === 'bigint' && value >= least && value <= most;
    }
    case 'decimal': {
      if (holdsAnyNumber(type)) return true;
      const most = wholePart(type);
      if (!(value > -most && value < most)) return false;
      return typeof value === 'bigint' || Number(value.toFixed(type.scale)) === value;
    }
    case 'float':
      return typeof value === 'number' || (value >= -SAFE && value <= SAFE);
    default:
      return false;
  }
}

/** Returns the least and the greatest whole number that a column declares. */
export function wholeRange(type: ColumnType): readonly [number | bigint, number | bigint] {
  if (type.kind !== 'integer') return WHOLE_OF_BITS[32];
  return type.bits === 64 ? [-(2n ** 63n), 2n ** 63n - 1n] : WHOLE_OF_BITS[type.bits];
}

/** Returns the first whole number with more digits than a decimal declares. */
export function wholePart({ precision, scale }: Extract<ColumnType, { kind: 'decimal' }>): number {
  return 10 ** Math.max(0, Math.min(precision, SURE_DIGITS) - scale);
}

/** Returns SQL that is true if a value of the column has the form AS_DECLARED; it is never NULL for a value. */
export function holdsAsDeclared(c: string, type: ColumnType): string {
  switch (type.kind) {
    case 'integer':
    case 'bit': {
      const [least, most] = wholeRange(type);
      const within = typeof most === 'bigint' ? '' : ` AND ${c} BETWEEN ${least} AND ${most}`;
      return `typeof(${c}) = 'integer'${within}`;
    }
    case 'decimal': {
      if (holdsAnyNumber(type)) return `${c} BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308`;
      // Texts and BLOBs sort after all numbers.
      const most = wholePart(type);
      return `${c} > -${most} AND ${c} < ${most} AND (typeof(${c}) = 'integer' OR CAST(printf('%.${type.scale}f', ${c}) AS REAL) = ${c})`;
    }
    case 'float':
      return `CASE typeof(${c}) WHEN 'real' THEN ${c} BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308 WHEN 'integer' THEN ${c} BETWEEN -${SAFE} AND ${SAFE} ELSE 0 END`;
    default:
      return '0';
  }
}
