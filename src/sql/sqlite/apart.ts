/**
 * Separates the values of a mixed column from all else that SQLite may store in it. Texts and BLOBs sort after all
 * numbers; among texts, zero dates and blanks sort before all dates, and words after them. In: a type, or a stored
 * value. Out: SQL comparisons that hold for proper values only, and whether a stored value is apart from them.
 * https://sqlite.org/datatype3.html#sort_order
 */
import type { ColumnType } from '../column-type.ts';
import type { Side } from '../dialect.ts';

/** Infinities cannot be written as numbers. */
const GREATEST = '1.7976931348623157e308';
/** The first date, and the beginning of all times. Neither literal may read as a number. */
const FIRST_DATE = '0001-01-01';
const FIRST_TIME = '00:';
/** Sorts after all texts that begin with a digit. */
const BEHIND = ':';

const NUMBERS = { first: `>= -${GREATEST}`, last: `<= ${GREATEST}` };
const DATES = { first: `>= '${FIRST_DATE}'`, last: `< '${BEHIND}'` };
const TIMES = { first: `>= '${FIRST_TIME}'`, last: `< '${BEHIND}'` };

/** Returns the comparisons, to be put after the column. */
export function valuesOf({ kind }: ColumnType): Readonly<Record<Side, string>> {
  if (kind === 'date' || kind === 'datetime') return DATES;
  return kind === 'time' ? TIMES : NUMBERS;
}

/** True if a stored value of a column of dates or times is apart from them. */
export function isApart(value: unknown, { kind }: ColumnType): boolean {
  return typeof value !== 'string' || value < (kind === 'time' ? FIRST_TIME : FIRST_DATE) || value >= BEHIND;
}
