/**
 * Finds the plan that SQLite would use with additional indexes. In: a database, the tables of the statement, CREATE
 * INDEX statements. Out: the lines of the plan. It is made on a copy of these tables' schema in memory, without rows
 * but with ANALYZE's statistics. The database itself is not changed.
 */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { codeOf } from '../../common/reason.ts';
import type { IndexToTry } from '../database.ts';
import type { BoundStatement } from '../statement.ts';
import { registerFunctions } from './functions.ts';

/** Limit of copied tables, indexes and views. */
const MOST = 2000;

/** Returns the plan. Undefined if the schema cannot be copied, as with an extension's tables. */
export function planWith(
  database: DatabaseSync,
  tables: readonly string[],
  indexes: readonly IndexToTry[],
  { text, parameters }: BoundStatement<SQLInputValue>,
): readonly string[] | undefined {
  const wanted = new Set(tables.map(bare));
  const parts = partsOf(database, wanted);
  if (parts.length > MOST) return undefined;
  const copy = new DatabaseSync(':memory:');
  try {
    registerFunctions(copy);
    for (const sql of parts) copy.exec(sql);
    for (const { table, statement } of indexes) if (wanted.has(bare(table))) copy.exec(statement);
    copyStatistics(database, copy, wanted);
    const rows = copy.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...parameters);
    return rows.map(({ detail }) => String(detail));
  } catch (error) {
    // Caused by a table of an extension, or a collation of the application's own.
    if (codeOf(error) === 'ERR_SQLITE_ERROR') return undefined;
    throw error;
  } finally {
    copy.close();
  }
}

/** Drops the schema of a name: mappings may have one, SQLite has none. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^.*\./, '');
}

/** Returns the statements of tables and indexes; for views also those of everything that they may read. */
function partsOf(database: DatabaseSync, wanted: ReadonlySet<string>): readonly string[] {
  const all = database
    .prepare(
      `SELECT type, tbl_name, sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 ELSE 2 END`,
    )
    .all();
  const isWanted = (row: (typeof all)[number]): boolean => wanted.has(String(row['tbl_name']).toLowerCase());
  const hasView = all.some(row => row['type'] === 'view' && isWanted(row));
  return all.filter(row => hasView || isWanted(row)).map(({ sql }) => String(sql));
}

function copyStatistics(database: DatabaseSync, copy: DatabaseSync, wanted: ReadonlySet<string>): void {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").get() === undefined) return;
  // Creates sqlite_stat1, which no other statement may create.
  copy.exec('ANALYZE');
  const insert = copy.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)');
  for (const { tbl, idx, stat } of database.prepare('SELECT tbl, idx, stat FROM sqlite_stat1').all()) {
    if (wanted.has(String(tbl).toLowerCase())) insert.run(tbl ?? null, idx ?? null, stat ?? null);
  }
  copy.exec('ANALYZE sqlite_schema');
}
