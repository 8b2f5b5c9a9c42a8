/**
 * Says where the values of a mixed column lie among all that SQLite may keep in it: texts and BLOBs come behind all
 * numbers, and of texts a zero date or a blank comes before all dates, a word behind them. In: a type, or a stored
 * value. Out: comparisons of SQL that hold for the values alone, and whether a stored value is apart from them.
 * https://sqlite.org/datatype3.html#sort_order
 */
import type { ColumnType } from '../column-type.ts';
import type { Side } from '../dialect.ts';

/** Infinities are no numbers that can be written. */
const GREATEST = '1.7976931348623157e308';
/** The first date there is; and of times what begins all of an hour. No literal may read as a number. */
const FIRST_DATE = '0001-01-01';
const FIRST_TIME = '00:';
/** Behind all texts that begin with a digit. */
const BEHIND = ':';

const NUMBERS = { first: `>= -${GREATEST}`, last: `<= ${GREATEST}` };
const DATES = { first: `>= '${FIRST_DATE}'`, last: `< '${BEHIND}'` };
const TIMES = { first: `>= '${FIRST_TIME}'`, last: `< '${BEHIND}'` };

/** What stands behind the column. */
export function valuesOf({ kind }: ColumnType): Readonly<Record<Side, string>> {
  if (kind === 'date' || kind === 'datetime') return DATES;
  return kind === 'time' ? TIMES : NUMBERS;
}

/** Of a stored value of a column of dates or times. */
export function isApart(value: unknown, { kind }: ColumnType): boolean {
  return typeof value !== 'string' || value < (kind === 'time' ? FIRST_TIME : FIRST_DATE) || value >= BEHIND;
}
