/**
 * Chooses the sampled rows of a table. In: a source and a random number. Out: stored rows, spread over the key, and
 * those with the least and greatest values of indexed columns. From these it picks a few, unusual ones first: rare
 * forms and codes, NULL, shortest and longest, least and greatest.
 */

import { getOrInsert } from '../common/caches.ts';
import type { StoredRow } from '../law/fetched-rows.ts';
import { formOf } from '../law/forms.ts';
import type { StoredRows } from '../law/stored-rows.ts';
import type { Source } from '../mapping/model.ts';
import { keyBetween } from '../profile/places.ts';
import { type Catalog, findTable } from '../sql/catalog.ts';
import { and, compare, equals, isNull, not, or, TRUE, value } from '../sql/construct.ts';
import type { ColumnExpression, Order, Predicate, SqlValue } from '../sql/expression.ts';
import { identifier } from '../sql/identifier.ts';

/** A table with fewer rows is read as a whole. */
const WHOLE = 1000;
/** Random positions in the key, and how many rows are read from each. */
const PLACES = 16;
const ROWS_PER_PLACE = 40;
/** Rows at each end of a column. */
const AT_ENDS = 2;
const ALIAS = identifier('t');

export type Random = () => number;

/** Mulberry32: returns numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the rows to choose from. Rejects with DatabaseError. */
export async function poolOf(
  source: Source,
  stored: StoredRows,
  catalog: Catalog,
  random: Random,
  signal: AbortSignal,
): Promise<readonly StoredRow[]> {
  const key = keyOf(source);
  const by = (columns: readonly ColumnExpression[], descending: boolean): readonly Order[] =>
    columns.map(column => ({ by: column, descending }));
  const ask = (where: Predicate, orderBy: readonly Order[], limit: number): Promise<readonly StoredRow[]> =>
    stored.query(source.table, { where, orderBy, limit }, signal);
  const first = await ask(TRUE, by(key, false), WHOLE);
  const [lead] = key;
  if (first.length < WHOLE || !lead) return first;
  const found = new Map<string, StoredRow>();
  const take = (rows: readonly StoredRow[]): void => {
    for (const row of rows) found.set(nameOf(row, key), row);
  };
  take(first.slice(0, ROWS_PER_PLACE));
  const last = await ask(TRUE, by(key, true), ROWS_PER_PLACE);
  take(last);
  const ends = [first[0]?.get(lead.column) ?? null, last[0]?.get(lead.column) ?? null] as const;
  for (let i = 0; i < PLACES; i++) {
    const from = keyBetween(lead.type, ...ends, random());
    if (from !== undefined)
      take(await ask(compare(lead, '>=', value(from, lead.type)), by(key, false), ROWS_PER_PLACE));
  }
  // If the first column of the key has few values, positions are taken along the second column.
  const [, second] = key;
  const leads = [...new Set([...found.values()].map(row => row.get(lead.column) ?? null))];
  for (const one of second && leads.length <= PLACES / 4 ? leads : []) {
    if (one === null || !second) continue;
    const own = equals(lead, value(one, lead.type));
    const [least] = await ask(own, by([second], false), 1);
    const [greatest] = await ask(own, by([second], true), 1);
    for (let i = 0; i < PLACES / leads.length; i++) {
      const [from, to] = [least, greatest].map(row => row?.get(second.column) ?? null);
      const start = keyBetween(second.type, from ?? null, to ?? null, random());
      if (start === undefined) continue;
      take(await ask(and(own, compare(second, '>=', value(start, second.type))), by(key, false), ROWS_PER_PLACE));
    }
  }
  const leading = new Set(findTable(catalog, source.table)?.indexes.map(index => index.columns[0]?.toLowerCase()));
  for (const read of stored.columnsOf(source.table)) {
    const column = { ...read, alias: ALIAS };
    if (!leading.has(column.column.toLowerCase())) continue;
    take(await ask(isNull(column), [], AT_ENDS));
    for (const descending of [false, true])
      take(await ask(not(isNull(column)), [{ by: column, descending, native: true }], AT_ENDS));
  }
  return [...found.values()];
}

/** Yields all rows in lists, in the order of the key. Rejects with DatabaseError. */
export async function* everyRow(
  source: Source,
  stored: StoredRows,
  size: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredRow[]> {
  const key = keyOf(source);
  const orderBy = key.map(by => ({ by, descending: false }));
  for (let where: Predicate = TRUE; ; ) {
    const rows = await stored.query(source.table, { where, orderBy, limit: size }, signal);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (rows.length < size || !last) return;
    where = after(key, last);
  }
}

function after(key: readonly ColumnExpression[], last: StoredRow): Predicate {
  const at = (column: ColumnExpression) => value(last.get(column.column) ?? null, column.type);
  return or(
    ...key.map((column, i) =>
      and(...key.slice(0, i).map(before => equals(before, at(before))), compare(column, '>', at(column))),
    ),
  );
}

/** Returns the columns of the key that belong to the table itself. */
function keyOf(source: Source): readonly ColumnExpression[] {
  return source.key.filter(column => column.alias === source.alias).map(column => ({ ...column, alias: ALIAS }));
}

function nameOf(row: StoredRow, key: readonly ColumnExpression[]): string {
  return key.map(({ column }) => JSON.stringify(String(row.get(column)))).join();
}

/**
 * Columns with at most so many values count as codes, and each code as a feature; other columns have their forms only.
 */
const FEW_VALUES = 40;

/** Returns the most unusual rows: at least one row for each feature, rare features first; then rows spread evenly. */
export function strangest(rows: readonly StoredRow[], most: number): readonly StoredRow[] {
  if (rows.length <= most) return rows;
  const having = new Map<string, number[]>();
  for (const column of rows[0]?.keys() ?? []) {
    for (const [i, features] of featuresOf(rows.map(row => row.get(column) ?? null)).entries()) {
      for (const feature of features) {
        const name = `${column} ${feature}`;
        getOrInsert(having, name, () => []).push(i);
      }
    }
  }
  const chosen = new Set<number>();
  for (const at of [...having.values()].toSorted((a, b) => a.length - b.length)) {
    if (chosen.size >= (most * 3) / 4) break;
    if (!at.some(i => chosen.has(i))) chosen.add(at[0] ?? 0);
  }
  for (let i = 0; chosen.size < most && i < most; i++) chosen.add(Math.floor((i * rows.length) / most));
  return [...chosen].toSorted((a, b) => a - b).flatMap(i => rows[i] ?? []);
}

/** Returns the features of each value of a column. */
function featuresOf(values: readonly SqlValue[]): readonly (readonly string[])[] {
  const few = new Set(values).size <= FEW_VALUES;
  const marks = new Map<number, string[]>();
  const mark = (name: string, by: (value: SqlValue) => number | string, last: boolean): void => {
    let best: number | undefined;
    for (const [i, one] of values.entries()) {
      if (one === null) continue;
      const [a, b] = [by(one), best === undefined ? undefined : by(values[best] ?? null)];
      if (b === undefined || (last ? a > b : a < b)) best = i;
    }
    if (best !== undefined) marks.set(best, [...(marks.get(best) ?? []), name]);
  };
  const size = (one: SqlValue): number => (one instanceof Uint8Array ? one.length : String(one).length);
  const order = (one: SqlValue): number | string => (typeof one === 'number' ? one : String(one));
  mark('shortest', size, false);
  mark('longest', size, true);
  mark('least', order, false);
  mark('greatest', order, true);
  return values.map((one, i) => [formOf(one), ...(few ? [`= ${String(one)}`] : []), ...(marks.get(i) ?? [])]);
}
