/**
 * Reads SQLite's catalog. In: an open database. Out: its tables as in src/sql/catalog.ts, with types by their declared
 * names.
 * https://sqlite.org/pragma.html#pragfunc
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Catalog, CatalogPart, ColumnInfo, IndexInfo, TableInfo, UnfitColumn } from '../catalog.ts';
import { spelledAs } from '../column-type.ts';
import { isOfNames } from './errors.ts';
import { parseSqliteType } from './types.ts';

/**
 * Reads a part of the schema, or all of it. Leaves out names that do not exist. Also leaves out views whose tables or
 * columns no longer exist, unless they are asked for by name.
 */
export function readCatalog(database: DatabaseSync, part?: CatalogPart): Catalog {
  const lower = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(name => name.toLowerCase()));
  const named = part && lower(part.tables);
  const having = lower(part?.columns ?? []);
  const found = all(
    database,
    `SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
  );
  const tables = new Map<string, TableInfo>();
  for (const { name, type } of found) {
    const key = text(name).toLowerCase();
    if (named && !named.has(key) && having.size === 0) continue;
    const isView = type === 'view';
    const read = isView && !named?.has(key) ? readIfWhole(database, text(name)) : readTable(database, text(name));
    if (!read) continue;
    const table = isView ? { ...read, isView: true as const, indexes: indexesBehind(database, read) } : read;
    if (!named || named.has(key) || [...table.columns.keys()].some(column => having.has(column)))
      tables.set(key, table);
  }
  return { engine: 'sqlite', tables };
}

/** Returns undefined if SQLite cannot evaluate the view. */
function readIfWhole(database: DatabaseSync, view: string): TableInfo | undefined {
  try {
    return readTable(database, view);
  } catch (error) {
    if (isOfNames(error)) return undefined;
    throw error;
  }
}

function readTable(database: DatabaseSync, name: string): TableInfo {
  const columns = new Map<string, ColumnInfo>();
  const keyed: { readonly column: string; readonly at: number }[] = [];
  for (const row of all(database, 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', name)) {
    const column = text(row['name']);
    const declared = text(row['type']);
    columns.set(column.toLowerCase(), {
      name: column,
      type: spelledAs(parseSqliteType(declared), declared),
      declared,
      nullable: row['notnull'] === 0 && row['pk'] === 0,
    });
    if (Number(row['pk']) > 0) keyed.push({ column, at: Number(row['pk']) });
  }
  const primaryKey = keyed.sort((a, b) => a.at - b.at).map(k => k.column);
  return { name, columns, primaryKey, indexes: readIndexes(database, name, columns, primaryKey) };
}

/**
 * Returns the indexes of the table behind a view, by the view's names of their columns, if it shows rows of one table
 * alone, each once: its plan is then a single line. Such a view is searched as that table is, by the same indexes, and
 * what is unique there is unique here. Leaves out indexes with a column that the view does not show as it is stored.
 */
function indexesBehind(database: DatabaseSync, { name, columns }: TableInfo): readonly IndexInfo[] {
  const all = `SELECT * FROM "${name.replaceAll('"', '""')}"`;
  if (database.prepare(`EXPLAIN QUERY PLAN ${all}`).all().length !== 1) return [];
  const shown = database.prepare(all).columns();
  const [base] = shown.flatMap(({ table }) => table ?? []);
  if (base === undefined) return [];
  const names = new Map(
    shown.map(({ name: own, column }) => [column?.toLowerCase(), columns.get(own.toLowerCase())?.name]),
  );
  const table = readTable(database, base);
  const indexes = [
    ...table.indexes,
    ...(names.has('rowid') && !table.columns.has('rowid') ? [{ name: 'rowid', columns: ['rowid'], unique: true }] : []),
  ];
  return indexes.flatMap(index => {
    const renamed = index.columns.flatMap(column => names.get(column.toLowerCase()) ?? []);
    if (renamed.length < index.columns.length) return [];
    const { unfit = [], ...rest } = index;
    const unfitHere = unfit.map(one => ({ ...one, column: names.get(one.column.toLowerCase()) ?? one.column }));
    return [{ ...rest, columns: renamed, ...(unfitHere.length > 0 && { unfit: unfitHere }) }];
  });
}

/**
 * Reads a table's indexes, except partial ones and those on expressions: they serve no search that the planner makes.
 */
function readIndexes(
  database: DatabaseSync,
  table: string,
  known: ReadonlyMap<string, ColumnInfo>,
  primaryKey: readonly string[],
): readonly IndexInfo[] {
  const indexes: IndexInfo[] = [];
  for (const row of all(database, 'SELECT name, "unique" FROM pragma_index_list(?) WHERE partial = 0', table)) {
    const name = text(row['name']);
    const keys = all(database, 'SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno', name);
    const columns = keys.map(key => key['name']);
    if (!columns.every(column => typeof column === 'string')) continue;
    const unfit = keys.flatMap(key => unfitOf(text(key['name']), text(key['coll']), known));
    indexes.push({ name, columns, unique: row['unique'] === 1, ...(unfit.length > 0 ? { unfit } : {}) });
  }
  const same = (i: IndexInfo): boolean => i.columns.join('\n') === primaryKey.join('\n');
  // An INTEGER PRIMARY KEY is the table's own order and has no index of its own.
  if (primaryKey.length > 0 && !indexes.some(same)) {
    indexes.unshift({ name: 'PRIMARY KEY', columns: primaryKey, unique: true });
  }
  return indexes;
}

/**
 * Texts are compared by RTRIM (dialect.ts), which an index of another collation cannot serve.
 * https://sqlite.org/datatype3.html#collating_sequences
 */
function unfitOf(column: string, collation: string, known: ReadonlyMap<string, ColumnInfo>): readonly UnfitColumn[] {
  const isText = known.get(column.toLowerCase())?.type?.kind === 'text';
  return isText && collation.toUpperCase() !== COMPARED_BY ? [{ column, collation, needed: COMPARED_BY }] : [];
}

const COMPARED_BY = 'RTRIM';

function all(database: DatabaseSync, sql: string, ...values: string[]): Record<string, unknown>[] {
  return database.prepare(sql).all(...values);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
