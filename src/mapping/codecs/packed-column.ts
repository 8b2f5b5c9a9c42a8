/**
 * Describes how a column stores packed dates. In: its type, and the year that its years count from. Out: how a raw
 * value is read as yyyymmdd, the stored value of such a number, and tests for a date. CHAR(8), INT and DECIMAL(8,0)
 * hold `20240314`. With years since 1900 (CYYMMDD of an AS/400) the number is 1240314, with years since 1700 (FileMan)
 * 3240314. Numbers are compared as stored. Texts with counted years are compared by their number, because some have
 * lost a leading zero.
 */
import { type ColumnType, INTEGER, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, glob, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { pad, twoDigits } from '../../time/calendar.ts';
import { printPacked } from './packed-date.ts';
import { trimEnd } from './text.ts';

export interface PackedColumn {
  readonly inverse: 'indexed' | 'computed';
  /** Returns the digits yyyymmdd of a raw value, or of a `compared` one, as a number; undefined if it has others. */
  read(raw: SqlValue): number | undefined;
  /** Returns the value of `compared` for a packed date. */
  stored(packed: number): SqlValue;
  /** Returns the same as a literal. */
  literal(packed: number): Expression;
  /** Returns the raw values of a packed date, if their digits differ. */
  raws?(packed: number): readonly (string | number)[];
  /** Returns the expression to compare and sort by. */
  compared(column: Expression): Expression;
  /** Tests that the column holds a day, a month or a year. */
  isDate(column: Expression): Predicate;
  isDay(column: Expression): Predicate;
  /** The date that a stored 0 would be, but which is absent. */
  readonly none?: number;
  /** First day that the column can hold, and their end, in days since 1970. Undefined: those of the calendar. */
  readonly ends?: { readonly first: number; readonly end: number };
}

/** True for columns of whole numbers, including decimals without digits after the point. */
export function isWholeNumber(type: ColumnType | undefined): type is ColumnType {
  return type?.kind === 'integer' || (type?.kind === 'decimal' && type.scale === 0);
}

/** Describes a column. `since`: the year that its years count from, 0 for plain years. */
export function packedColumn(type: ColumnType, since = 0): PackedColumn {
  const add = since * 10_000;
  if (type.kind === 'text') return since === 0 ? texts(type) : countedTexts(since);
  const plain = type.kind === 'integer' && since === 0;
  /** Returns the digits yyyymmdd. */
  const packed = (column: Expression): Expression =>
    plain ? column : call('ymd', [constant(since, INTEGER), constant(0, INTEGER), column], INTEGER);
  const isDate = (column: Expression): Predicate =>
    and(...(since === 0 ? [] : [compare(column, '>', constant(0, type))]), isPacked(packed(column)));
  return {
    inverse: 'indexed',
    read: raw => {
      const number = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
      return typeof number === 'number' && number > 0 ? inRange(number + add) : undefined;
    },
    stored: at => at - add,
    literal: at => value(at - add, type),
    compared: column => column,
    ...(since !== 0 && { none: add, raws: packed => [packed - add] }),
    isDate,
    isDay: column => and(isDate(column), not(glob(plain ? column : call('text', [packed(column)], UNICODE), '*00'))),
  };
}

function texts(type: ColumnType): PackedColumn {
  return {
    inverse: 'indexed',
    read: readDigits,
    stored: packed => pad(packed, 8),
    literal: packed => value(pad(packed, 8), type),
    compared: column => column,
    isDate: isPacked,
    isDay: column => and(isPacked(column), not(glob(column, '*00'))),
  };
}

const DIGIT = '[0-9]';

/** Reads `1240314`, `0991231` or, without its zero, `991231`. */
function countedTexts(since: number): PackedColumn {
  const add = since * 10_000;
  const compared = (column: Expression): Expression => ({
    kind: 'choice',
    of: [
      {
        when: or(glob(column, DIGIT.repeat(7)), glob(column, DIGIT.repeat(6))),
        give: call('ymd', [constant(since, INTEGER), constant(0, INTEGER), column], INTEGER),
      },
    ],
    type: INTEGER,
  });
  const isDate = (column: Expression): Predicate =>
    and(compare(compared(column), '>', constant(add, INTEGER)), isPacked(compared(column)));
  return {
    inverse: 'computed',
    read: raw => {
      if (typeof raw === 'number') return inRange(raw);
      const text = typeof raw === 'string' ? trimEnd(raw) : '';
      return /^\d{6,7}$/.test(text) && Number(text) > 0 ? inRange(Number(text) + add) : undefined;
    },
    stored: packed => packed,
    literal: packed => value(packed, INTEGER),
    compared,
    raws: packed => shortened(pad(packed - add, 7)),
    none: add,
    isDate,
    isDay: column => and(isDate(column), not(glob(column, '*00'))),
  };
}

/** Returns the digits, and their form without the first zero, which some rows have lost. */
export function shortened(digits: string): readonly string[] {
  return digits.startsWith('0') ? [digits, digits.slice(1)] : [digits];
}

function inRange(packed: number): number | undefined {
  return packed >= 10_000 && packed <= 99_999_999 ? packed : undefined;
}

/** Returns eight digits of a text as a number; undefined if it has others. */
function readDigits(raw: SqlValue): number | undefined {
  if (typeof raw === 'number') return inRange(raw);
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

/** Returns the number of a raw value that is a day, a month or a year. */
export function dateIn(raw: SqlValue | undefined, column: PackedColumn): number | undefined {
  const packed = column.read(raw ?? null);
  return packed === undefined || printPacked(packed) === undefined ? undefined : packed;
}

/** Tests that the expression holds the digits of a packed date. */
export function isPacked(of: Expression): Predicate {
  return { kind: 'packed-date', of, not: false };
}
