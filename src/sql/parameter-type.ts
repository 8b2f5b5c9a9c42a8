/**
 * Chooses the type that a parameter is declared with. In: a value, its own type and the type of its other operand. Out:
 * a value and type such that SQL Server neither converts the column (which would make its index useless) nor truncates
 * the value.
 * https://learn.microsoft.com/sql/t-sql/data-types/data-type-precedence-transact-sql
 */
import { type ColumnType, isSmallUuid, isTrimmed, withoutBlanks } from './column-type.ts';
import type { SqlValue } from './expression.ts';

/** Types of one family compare without a cast. */
export type Family = 'text' | 'number' | 'moment' | 'instant' | 'time' | 'uuid' | 'binary';

export function familyOf(type: ColumnType): Family {
  switch (type.kind) {
    case 'integer':
    case 'bit':
    case 'decimal':
    case 'float':
      return 'number';
    case 'date':
    case 'datetime':
      return 'moment';
    default:
      return type.kind;
  }
}

const NUMBER_TEXT = /^-?\d+(?:\.(\d+))?(e[+-]?\d+)?$/;
const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * Returns the value and type for a comparison with `against`. Throws a TypeError for a value that can never equal
 * `against`: the planner folds such a comparison to false.
 */
export function parameterFor(
  value: SqlValue,
  type: ColumnType,
  against: ColumnType,
): { readonly value: SqlValue; readonly type: ColumnType } {
  if (value === null) return { value, type: against };
  const target = familyOf(against);
  if (target === 'text') {
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string') throw new TypeError('a binary value is compared with text');
    return { value: isTrimmed(against) ? withoutBlanks(text) : text, type: textType(text, against) };
  }
  if (target === 'number') {
    if (value instanceof Uint8Array) throw new TypeError('a binary value is compared with a number');
    if (typeof value === 'string' && !NUMBER_TEXT.test(value)) throw new TypeError('a text is compared with a number');
    return { value, type: typeBeside(value, against) };
  }
  if (target === 'uuid' && typeof value === 'string')
    return { value: isSmallUuid(against) ? value.toLowerCase() : value.toUpperCase(), type: UUID };
  return { value, type: familyOf(type) === target ? type : against };
}

/** The type of UUIDs in values: upper-case text. */
const UUID: ColumnType = { kind: 'uuid' };

/** Returns the type of a value that is compared with nothing. */
export function looseType(value: SqlValue, type: ColumnType): ColumnType {
  if (type.kind === 'text' && typeof value === 'string') return textType(value, type);
  if (type.kind === 'uuid') return UUID;
  if (familyOf(type) === 'number' && value !== null && !(value instanceof Uint8Array)) {
    return typeof value === 'string' && !NUMBER_TEXT.test(value) ? type : numberType(value);
  }
  return type;
}

/**
 * Returns the column's own type of text, so that its index serves; but Unicode if the column's code page may lack a
 * character (the server would replace it by a similar one), and a longer type if the value is longer than the column.
 */
function textType(text: string, column: ColumnType): ColumnType {
  const unicode = column.kind !== 'text' || column.unicode || BEYOND_ASCII.test(text);
  const most = unicode ? 4000 : 8000;
  const own = column.kind === 'text' ? column.length : most;
  const length = own === 'max' || text.length > most ? 'max' : text.length <= own && own <= most ? own : most;
  return { kind: 'text', unicode, fixed: false, length };
}

/** Matches whole digits and digits after the point, as written. */
const PLAIN_NUMBER = /^-?0*(\d*)(?:\.(\d+))?$/;
const MOST_DIGITS = 38;

/**
 * Returns a type that does not depend on the number if `against` is a decimal or a float, so that all numbers share one
 * plan in the server's cache. A number that is too long for it gets a type of its own.
 */
function typeBeside(value: string | number, against: ColumnType): ColumnType {
  if (against.kind === 'float') {
    const fits = against.single && Number.isFinite(Math.fround(Number(value)));
    return { kind: 'float', ...(fits && { single: true }) };
  }
  const written = against.kind === 'decimal' ? PLAIN_NUMBER.exec(String(value)) : null;
  if (against.kind !== 'decimal' || written === null) return numberType(value);
  const [, whole = '', fraction = ''] = written;
  const fits = fraction.length <= against.scale && whole.length <= MOST_DIGITS - against.scale;
  return fits ? { kind: 'decimal', precision: MOST_DIGITS, scale: against.scale } : numberType(value);
}

/** Returns the type of a number. Integers of all sizes and decimals of all scales compare without losing an index. */
function numberType(value: string | number): ColumnType {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return integerType(value);
  const text = String(value);
  const match = NUMBER_TEXT.exec(text);
  if (!match || match[2] !== undefined) return { kind: 'float' };
  if (match[1] !== undefined) {
    const whole = text.replace(/^-?0*/, '').indexOf('.');
    const scale = Math.max(0, Math.min(match[1].length, MOST_DIGITS - whole));
    return { kind: 'decimal', precision: MOST_DIGITS, scale };
  }
  return integerType(Number(text));
}

const INTEGER: ColumnType = { kind: 'integer', bits: 32 };
const LONG_INTEGER: ColumnType = { kind: 'integer', bits: 64 };

function integerType(value: number): ColumnType {
  return value >= -0x80000000 && value <= 0x7fffffff ? INTEGER : LONG_INTEGER;
}
