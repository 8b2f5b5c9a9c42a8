/**
 * Returns how many rows a table has. In: a database and a table of its catalog. Out: the engine's own estimate, as text
 * or number; no unbounded count is made.
 */
import type { TableInfo } from '../sql/catalog.ts';
import type { Database, TableRows } from '../sql/database.ts';

/** Undefined if it is unknown without counting. Rejects with DatabaseError. */
export async function sizeOf(database: Database, info: TableInfo): Promise<TableRows | undefined> {
  const key = info.name.toLowerCase();
  const surveyed = await database.survey?.({ engine: database.engine, tables: new Map([[key, info]]) });
  return surveyed?.get(key)?.rows;
}

/** Returns the count for JSON; null if unknown. */
export function countOf(rows: TableRows | undefined): { readonly rows: number | null; readonly rowsAre: string } {
  return { rows: rows?.count ?? null, rowsAre: rows?.kind ?? 'unknown' };
}
