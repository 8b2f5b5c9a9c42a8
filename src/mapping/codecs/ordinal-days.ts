/**
 * Describes how a column stores ordinal dates: a year and the day of that year, `2024074` as a number or a text of
 * seven digits. If years count from a century, the digits are those of the difference: 124074 since 1900 (CYYDDD of JD
 * Edwards), as a number or a text of six digits or, without its first zero, five. Out: a DayCount. Numbers, and texts
 * of seven digits, are compared as stored. Years begin with 1000.
 */
import { type ColumnType, holdsAnyNumber, INTEGER, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, glob, or } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { civil, dayOf, daysIn, END_DAY, pad } from '../../time/calendar.ts';
import type { DayCount } from './day-count.ts';
import { unitRange } from './number.ts';
import { shortened } from './packed-column.ts';
import { trimEnd } from './text.ts';

/** Returns the first day that such dates mean. */
export function firstOrdinal(since: number): number {
  return dayOf(Math.max(since, 1000), 1, 1);
}

/** Describes a column. `since`: the year that its years count from, 0 for plain years. */
export function ordinalDays(type: ColumnType, since: number): DayCount {
  const add = since * 1000;
  if (type.kind === 'text') return since === 0 ? inTexts(type) : inCountedTexts(add);
  const { most } = unitRange(type);
  return {
    inverse: 'indexed',
    isSingle: true,
    isSparse: true,
    least: undefined,
    // SQLite may store more than the type declares.
    most: most < 10_000_000n && !holdsAnyNumber(type) ? lastDay(Number(most) + add) : undefined,
    position: raw => {
      const number = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
      return typeof number === 'number' && number > 0 ? dayIn(number + add) : undefined;
    },
    stored: day => ordinalOf(day) - add,
    raws: day => [ordinalOf(day) - add],
    type,
    compared: column => column,
    isNumber: column => {
      const isOne = isOrdinal(
        call('text', [type.kind === 'integer' && add === 0 ? column : sum(add, column)], UNICODE),
      );
      return add === 0 ? isOne : and(compare(column, '>', constant(0, type)), isOne);
    },
  };
}

function inTexts(type: ColumnType): DayCount {
  return {
    inverse: 'indexed',
    isSingle: true,
    isSparse: true,
    least: undefined,
    most: undefined,
    position: raw => {
      const text = typeof raw === 'string' ? trimEnd(raw) : '';
      return /^\d{7}$/.test(text) ? dayIn(Number(text)) : undefined;
    },
    stored: day => pad(ordinalOf(day), 7),
    raws: day => [pad(ordinalOf(day), 7)],
    type,
    compared: column => column,
    isNumber: isOrdinal,
  };
}

function inCountedTexts(add: number): DayCount {
  const compared = (column: Expression): Expression => ({
    kind: 'choice',
    of: [{ when: or(glob(column, DIGIT.repeat(6)), glob(column, DIGIT.repeat(5))), give: sum(add, column) }],
    type: INTEGER,
  });
  return {
    inverse: 'computed',
    isSingle: true,
    isSparse: true,
    least: undefined,
    most: lastDay(999_999 + add),
    position: raw => {
      const text = typeof raw === 'string' ? trimEnd(raw) : '';
      return /^\d{5,6}$/.test(text) ? dayIn(Number(text) + add) : undefined;
    },
    sorted: (raw: SqlValue) => (raw === null || raw instanceof Uint8Array ? undefined : dayIn(Number(raw))),
    stored: ordinalOf,
    raws: day => shortened(pad(ordinalOf(day) - add, 6)),
    type: INTEGER,
    compared,
    isNumber: column => isOrdinal(call('text', [compared(column)], UNICODE)),
  };
}

const DIGIT = '[0-9]';

/** Adds `add`, which is that of a century. */
function sum(add: number, column: Expression): Expression {
  return call('ymd', [constant(add / 10_000, INTEGER), constant(0, INTEGER), column], INTEGER);
}

/** Returns the day of `2024074`. */
function dayIn(ordinal: number): number | undefined {
  const [year, ofYear] = [Math.floor(ordinal / 1000), ordinal % 1000];
  if (!(year >= 1000 && year <= 9999) || ofYear < 1 || ofYear > 337 + daysIn(year, 2)) return undefined;
  return Number.isInteger(ordinal) ? dayOf(year, 1, 1) + ofYear - 1 : undefined;
}

function ordinalOf(day: number): number {
  const { year } = civil(day);
  return year * 1000 + day - dayOf(year, 1, 1) + 1;
}

/** Returns the last day whose number is not above `ordinal`. */
function lastDay(ordinal: number): number {
  const next = Math.min(Math.floor(ordinal / 1000), 9999);
  return Math.min(dayOf(next, 1, 1) + Math.min(ordinal % 1000, 337 + daysIn(next, 2)) - 1, END_DAY - 1);
}

const OF_YEAR = ['00[1-9]', '0[1-9][0-9]', '[12][0-9][0-9]', '3[0-5][0-9]', '36[0-5]'];
/** Two digits that are a multiple of four, without `00`. */
const FOURTHS = ['0[48]', '[2468][048]', '[13579][26]'];
const YEAR = `[1-9]${DIGIT.repeat(3)}`;

/** Tests for seven digits of a year and a day of that year. */
function isOrdinal(text: Expression): Predicate {
  return or(
    ...OF_YEAR.map(day => glob(text, YEAR + day)),
    ...FOURTHS.map(year => glob(text, `[1-9]${DIGIT}${year}366`)),
    and(
      ...[`${YEAR}366`, '??00366'].map(form => glob(text, form)),
      or(...FOURTHS.map(year => glob(text, `${year}00366`))),
    ),
  );
}
