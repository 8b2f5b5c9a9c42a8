/**
 * How a column holds packed dates. In: its type, and the year that its years count from. Out: reading a raw value as
 * yyyymmdd, the stored value of such a number, and the predicates that say where there is one. CHAR(8), INT and
 * DECIMAL(8,0) hold `20240314`; with years since 1900 (CYYMMDD of an AS/400) a number is 1240314, with years since 1700
 * (FileMan) 3240314. Numbers are compared as they stand; texts that count from a year by their number, as some have
 * lost a zero.
 */
import { type ColumnType, INTEGER, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, glob, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { pad, twoDigits } from '../../time/calendar.ts';
import { printPacked } from './packed-date.ts';
import { trimEnd } from './text.ts';

export interface PackedColumn {
  readonly inverse: 'indexed' | 'computed';
  /** The digits yyyymmdd of a raw value, or of one of `compared`, as a number; undefined if it has others. */
  read(raw: SqlValue): number | undefined;
  /** As `compared` has it. */
  stored(packed: number): SqlValue;
  /** Likewise, to compare with. */
  literal(packed: number): Expression;
  /** Raw values of a packed date, if they are other digits. */
  raws?(packed: number): readonly (string | number)[];
  /** What is compared and sorted by. */
  compared(column: Expression): Expression;
  /** The column holds a day, a month or a year. */
  isDate(column: Expression): Predicate;
  isDay(column: Expression): Predicate;
  /** The date that a zero would be, which is none. */
  readonly none?: number;
  /** Of days since 1970 the first that the column can hold, and the end of them; undefined: those of the calendar. */
  readonly ends?: { readonly first: number; readonly end: number };
}

/** Columns of whole numbers, those of decimals without digits after the point among them. */
export function isWholeNumber(type: ColumnType | undefined): type is ColumnType {
  return type?.kind === 'integer' || (type?.kind === 'decimal' && type.scale === 0);
}

/** `since`: the year that the years of the column count from, 0 for years as they are. */
export function packedColumn(type: ColumnType, since = 0): PackedColumn {
  const add = since * 10_000;
  if (type.kind === 'text') return since === 0 ? texts(type) : countedTexts(since);
  const plain = type.kind === 'integer' && since === 0;
  /** The digits yyyymmdd. */
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

/** `1240314`, `0991231` or, without its zero, `991231`. */
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

/** Digits of which some rows have lost the first zero. */
export function shortened(digits: string): readonly string[] {
  return digits.startsWith('0') ? [digits, digits.slice(1)] : [digits];
}

function inRange(packed: number): number | undefined {
  return packed >= 10_000 && packed <= 99_999_999 ? packed : undefined;
}

/** Eight digits of a text as a number, or undefined if it has others. */
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

/** The number of a raw value that is a date: a day, a month or a year. */
export function dateIn(raw: SqlValue | undefined, column: PackedColumn): number | undefined {
  const packed = column.read(raw ?? null);
  return packed === undefined || printPacked(packed) === undefined ? undefined : packed;
}

/** The expression holds the digits of a packed date. */
export function isPacked(of: Expression): Predicate {
  return { kind: 'packed-date', of, not: false };
}
