/**
 * Finds sizes and foreign keys of the tables of a SQLite file. In: a catalog. Out: for each table its number of rows
 * (counted up to a limit, then from ANALYZE's statistics, else from its rowids) and its declared foreign keys.
 * https://sqlite.org/pragma.html#pragma_foreign_key_list, https://sqlite.org/fileformat2.html#stat1tab
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../../common/awaitable.ts';
import type { Catalog } from '../catalog.ts';
import type { ForeignKey, TableRows, TableSurvey } from '../database.ts';
import { bracketed, identifier, isIdentifier } from '../identifier.ts';

type Use = <T>(ask: (database: DatabaseSync) => T) => Awaitable<T>;

/** Limit of counted rows of a table. */
const COUNTED = 10_000;
/** Tables before other clients get a turn. */
const AT_ONCE = 20;

export async function surveyTables(use: Use, { tables }: Catalog): Promise<ReadonlyMap<string, TableSurvey>> {
  const found = new Map<string, TableSurvey>();
  const keys = [...tables.keys()];
  const statistics = await use(readStatistics);
  const numbered = await use(readNumbered);
  for (let start = 0; start < keys.length; start += AT_ONCE) {
    await use(database => {
      for (const key of keys.slice(start, start + AT_ONCE)) {
        const table = tables.get(key);
        if (!table) continue;
        const rows = rowsOf(database, table.name, numbered.get(table.name), statistics.get(key));
        found.set(key, { rows, foreignKeys: foreignKeysOf(database, table.name) });
      }
    });
    await setImmediate();
  }
  return found;
}

/** Returns the number of rows by table in lower case, if the application has run ANALYZE. */
function readStatistics(database: DatabaseSync): ReadonlyMap<string, number> {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").get() !== undefined;
  if (!isThere) return new Map();
  const found = new Map<string, number>();
  for (const { tbl, stat } of database.prepare('SELECT tbl, stat FROM sqlite_stat1').all()) {
    const key = String(tbl).toLowerCase();
    const rows = Number.parseInt(String(stat), 10);
    if (Number.isSafeInteger(rows)) found.set(key, Math.max(rows, found.get(key) ?? 0));
  }
  return found;
}

/**
 * Returns whether each table has rowids; has no views. Reads all at once, because SQLite lists all even if one is asked
 * for.
 */
function readNumbered(database: DatabaseSync): ReadonlyMap<string, boolean> {
  const tables = database
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all();
  return new Map(tables.map(({ name, wr }) => [String(name), wr === 0]));
}

/** Returns undefined for a view, because its first row may take any time. */
function rowsOf(
  database: DatabaseSync,
  name: string,
  isNumbered: boolean | undefined,
  statistics: number | undefined,
): TableRows | undefined {
  if (isNumbered === undefined || !isIdentifier(name)) return undefined;
  const from = bracketed(identifier(name));
  const counted = numberIn(database, `SELECT COUNT(*) AS n FROM (SELECT 1 FROM ${from} LIMIT ${COUNTED + 1})`);
  if (counted <= COUNTED) return { count: counted, kind: 'exact' };
  if (statistics !== undefined) return { count: Math.max(statistics, counted), kind: 'about' };
  if (!isNumbered) return undefined;
  const end = (direction: string): number =>
    numberIn(database, `SELECT rowid AS n FROM ${from} ORDER BY rowid ${direction} LIMIT 1`);
  return { count: end('DESC') - end('ASC') + 1, kind: 'most' };
}

function numberIn(database: DatabaseSync, text: string): number {
  const statement = database.prepare(text);
  statement.setReadBigInts(true);
  return Number(statement.get()?.['n'] ?? 0);
}

function foreignKeysOf(database: DatabaseSync, name: string): readonly ForeignKey[] {
  const rows = database
    .prepare(
      'SELECT id, "table" AS other, "from" AS ours, "to" AS theirs FROM pragma_foreign_key_list(?) ORDER BY id, seq',
    )
    .all(name);
  return [...Map.groupBy(rows, ({ id }) => id).values()].map(of => ({
    columns: of.map(({ ours }) => String(ours)),
    table: String(of[0]?.['other']).toLowerCase(),
    theirs: of.flatMap(({ theirs }) => (typeof theirs === 'string' ? [theirs] : [])),
  }));
}
