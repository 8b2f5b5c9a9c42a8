/**
 * Finds the forms in which the rows of a SQLite file are written. SQLite stores any value in any column, so only the
 * rows can prove that a column may be compared unchanged. In: a catalog and the columns that matter. Out: the same
 * catalog, in which each of these columns has its form, and the number of rows per form. A form is proven if every row
 * that is not NULL has it. Otherwise it is `any`, which is correct for all rows, but no index serves. form-kinds.ts has
 * the forms.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../../common/awaitable.ts';
import { type Catalog, type ColumnInfo, findColumn, type IndexInfo, type TableInfo } from '../catalog.ts';
import type { ColumnType } from '../column-type.ts';
import { bracketed, identifier, isIdentifier } from '../identifier.ts';
import { type Kind, kindOf } from './form-kinds.ts';

/** Facts found about a column. */
export type Found = Pick<ColumnInfo, 'form' | 'written' | 'unseen'>;

/** Rows that are read before other clients get a turn. */
const SLICE = 50_000;

export interface MeasureOptions {
  /** By table and column in lower case. Columns that are not asked for count as `any`. */
  readonly isAsked: (table: string, column: string) => boolean;
  /**
   * Returns facts about a column that are known without reading its rows. `doubtful`: its rows may have any form, and
   * are not read.
   */
  readonly known?: (table: string, column: string, declared: string) => Found | 'doubtful' | undefined;
  /** Milliseconds that it may take; columns whose rows were not all read by then are `any`. */
  readonly longest: number;
}

/** Runs one statement on the open database. */
type Use = <T>(ask: (database: DatabaseSync) => T) => Awaitable<T>;

/** Number of rows of a column by form. `apart`: all of them sort before or after the values of other forms. */
type Counts = Map<string, { readonly rows: number; readonly apart: boolean }>;

interface Asked {
  readonly key: string;
  /** The column's name in SQL. */
  readonly sql: string;
  readonly type: ColumnType;
  readonly kind: Kind;
}

/** Measures an open database, table by table. Throws DatabaseError. */
export async function measure(
  use: Use,
  hasRowids: (table: string) => boolean,
  catalog: Catalog,
  { isAsked, longest, known = () => undefined }: MeasureOptions,
): Promise<Catalog> {
  const deadline = performance.now() + longest;
  const tables = new Map<string, TableInfo>();
  const isWanted = (key: string, { columns }: TableInfo): boolean => [...columns.keys()].some(one => isAsked(key, one));
  for (const [key, table] of await smallFirst(use, hasRowids, isWanted, catalog)) {
    const knownOf = (column: string): Found | 'doubtful' | undefined =>
      isAsked(key, column) ? known(key, column, table.columns.get(column)?.declared ?? '') : undefined;
    const asked = askedOf(table, column => isAsked(key, column) && knownOf(column) === undefined);
    const sliced = asked.length > 0 && hasRowids(table.name);
    const found = asked.length === 0 ? new Map() : await countForms(use, table, asked, sliced, deadline);
    const columns = [...table.columns].map(([column, info]): [string, ColumnInfo] => {
      const kind = kindOf(info, table);
      if (!kind || !info.type) return [column, info];
      const known = knownOf(column);
      if (typeof known === 'object') return [column, { ...info, ...known }];
      const isLate = isAsked(key, column) && known === undefined && found.get(column) === undefined;
      const seen = conclude(kind, info.type, found.get(column));
      return [column, { ...info, ...seen, ...(isLate ? { unseen: true } : {}) }];
    });
    tables.set(key, fitted({ ...table, columns: new Map(columns) }));
  }
  return { ...catalog, tables: new Map([...catalog.tables].map(([key, table]) => [key, tables.get(key) ?? table])) };
}

/** Drops `unfit` from binary indexes on trimmed columns, which compare as these indexes do. */
function fitted(table: TableInfo): TableInfo {
  const isTrimmed = (column: string): boolean => findColumn(table, column)?.form === 'trimmed';
  const indexes = table.indexes.map((index): IndexInfo => {
    const { unfit, ...rest } = index;
    const still = unfit?.filter(({ column }) => !isTrimmed(column)) ?? [];
    return still.length === 0 ? rest : { ...rest, unfit: still };
  });
  return { ...table, indexes };
}

/** Sorts small tables first, so that lists of codes are read in time, whatever the size of other tables. */
async function smallFirst(
  use: Use,
  hasRowids: (table: string) => boolean,
  isWanted: (key: string, table: TableInfo) => boolean,
  { tables }: Catalog,
): Promise<readonly (readonly [string, TableInfo])[]> {
  const sized = await use(database =>
    [...tables].map(([key, table]) => {
      const isCounted = isWanted(key, table) && isIdentifier(table.name) && hasRowids(table.name);
      return { key, table, size: isCounted ? lastRowid(database, bracketed(identifier(table.name))) : 0n };
    }),
  );
  return sized
    .toSorted((a, b) => (a.size < b.size ? -1 : a.size > b.size ? 1 : 0))
    .map(({ key, table }) => [key, table] as const);
}

/** Returns the last rowid, which SQLite finds at once in the table's own b-tree. */
function lastRowid(database: DatabaseSync, table: string): bigint {
  for (const [last] of rowsOf(database, `SELECT max(rowid) FROM ${table}`)) return typeof last === 'bigint' ? last : 0n;
  return 0n;
}

function askedOf(table: TableInfo, isAsked: (column: string) => boolean): readonly Asked[] {
  if (!isIdentifier(table.name)) return [];
  return [...table.columns].flatMap(([key, info]): readonly Asked[] => {
    const { name, type } = info;
    const kind = kindOf(info, table);
    if (!kind || !type || !isIdentifier(name) || !isAsked(key)) return [];
    return [{ key, sql: bracketed(identifier(name)), type, kind }];
  });
}

function conclude(kind: Kind, type: ColumnType, found: Counts | undefined): Found {
  if (!found) return { form: kind.unseen?.(type) ?? 'any' };
  const written = [...found]
    .map(([form, { rows }]) => ({ form, rows }))
    .sort((a, b) => b.rows - a.rows || (a.form < b.form ? -1 : 1));
  const distinctive = written.filter(({ form }) => form !== kind.neutral && !found.get(form)?.apart);
  const [only] = distinctive.length === 0 ? written : distinctive;
  const proven = distinctive.length <= 1 && only ? kind.proven(only.form, type) : undefined;
  const isMixed = [...found.values()].some(({ apart }) => apart);
  return { form: only ? ((isMixed && proven ? kind.mixed?.(proven) : proven) ?? 'any') : kind.empty, written };
}

/**
 * Counts rows by form and column; leaves out columns that were not read in time. The first row of each column gives the
 * form that all rows may have. SQLite counts the rows with that form, and only columns with others are read row by row.
 */
async function countForms(
  use: Use,
  table: TableInfo,
  asked: readonly Asked[],
  sliced: boolean,
  deadline: number,
): Promise<ReadonlyMap<string, Counts>> {
  const name = bracketed(identifier(table.name));
  const guesses = await use(database => asked.map(column => firstForm(database, name, column)));
  const given = asked.map(() => 0);
  const alike = asked.map(() => 0);
  const items = asked.flatMap(({ sql, type, kind }, i) => {
    const guess = guesses[i];
    const holds = guess === undefined ? '0' : kind.holds(guess, sql, type);
    return [`COUNT(${sql})`, `COUNT(CASE WHEN ${holds} THEN 1 END)`];
  });
  const all = await inSlices(use, name, sliced, deadline, (database, where) => {
    const [row = []] = rowsOf(database, `SELECT ${items.join(', ')} FROM ${name}${where}`);
    for (const i of asked.keys()) {
      given[i] = (given[i] ?? 0) + Number(row[2 * i]);
      alike[i] = (alike[i] ?? 0) + Number(row[2 * i + 1]);
    }
  });
  if (!all) return new Map();
  const counts = new Map(
    asked.map(({ key }, i): [string, Counts] => [
      key,
      new Map([[guesses[i] ?? '', { rows: alike[i] ?? 0, apart: false }]]),
    ]),
  );
  const mixed = asked.filter((_, i) => given[i] !== alike[i]);
  for (const { key } of asked) if (given[asked.findIndex(one => one.key === key)] === 0) counts.set(key, new Map());
  for (const { key } of mixed) counts.set(key, new Map());
  const read = await inSlices(use, name, sliced && mixed.length > 0, deadline, (database, where) => {
    if (mixed.length === 0) return;
    for (const row of rowsOf(database, `SELECT ${mixed.map(({ sql }) => sql).join(', ')} FROM ${name}${where}`)) {
      for (const [i, { key, type, kind }] of mixed.entries()) {
        const form = row[i] === null ? undefined : kind.formOf(row[i], type);
        const of = counts.get(key);
        if (!of || form === undefined) continue;
        const { rows, apart } = of.get(form) ?? { rows: 0, apart: true };
        of.set(form, { rows: rows + 1, apart: apart && kind.isApart?.(row[i], form, type) === true });
      }
    }
  });
  if (!read) for (const { key } of mixed) counts.delete(key);
  return counts;
}

/** Returns the form of the first value, except those that are apart, if the form can be proven. */
function firstForm(database: DatabaseSync, table: string, { sql, type, kind }: Asked): string | undefined {
  const isAsked = kind.withoutApart?.(sql, type) ?? `${sql} IS NOT NULL`;
  for (const [value] of rowsOf(database, `SELECT ${sql} FROM ${table} WHERE ${isAsked} LIMIT 1`)) {
    const form = kind.formOf(value, type);
    if (kind.proven(form, type)) return form;
  }
  return undefined;
}

/** Runs `count` on parts of a table, with turns of other clients in between. False if the time is over. */
async function inSlices(
  use: Use,
  table: string,
  sliced: boolean,
  deadline: number,
  count: (database: DatabaseSync, where: string) => void,
): Promise<boolean> {
  let after: bigint | undefined;
  for (;;) {
    if (performance.now() > deadline) return false;
    const from = after;
    const end: bigint | undefined = await use(database => {
      const until = sliced ? sliceEnd(database, table, from) : undefined;
      const bounds = [
        from === undefined ? [] : `rowid > ${from}`,
        until === undefined ? [] : `rowid <= ${until}`,
      ].flat();
      count(database, bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`);
      return until;
    });
    if (end === undefined) return true;
    after = end;
    await setImmediate();
  }
}

/** Returns the rowid at which a slice ends; undefined for the last. */
function sliceEnd(database: DatabaseSync, table: string, after: bigint | undefined): bigint | undefined {
  const from = after === undefined ? '' : `WHERE rowid > ${after} `;
  for (const [end] of rowsOf(database, `SELECT rowid FROM ${table} ${from}ORDER BY rowid LIMIT 1 OFFSET ${SLICE - 1}`))
    return typeof end === 'bigint' ? end : undefined;
  return undefined;
}

/** Returns rows as arrays. As numbers, large integers would cause errors. */
function* rowsOf(database: DatabaseSync, text: string): Iterable<readonly unknown[]> {
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const rows: Iterable<unknown> = statement.iterate();
  for (const row of rows) if (Array.isArray(row)) yield row;
}
