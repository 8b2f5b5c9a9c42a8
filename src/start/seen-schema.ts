/**
 * Records the schema that a check of mappings has used, to find out later, without another check, whether it is
 * unchanged. In: a catalog, the part of it that a pack names, and what the login may not read. Out: whether a database
 * has the same.
 */
import { createHash } from 'node:crypto';
import type { Catalog, CatalogPart, TableInfo } from '../sql/catalog.ts';
import type { Database, Permissions } from '../sql/database.ts';

export interface SeenSchema {
  readonly part: CatalogPart;
  /** Tables whose permissions were checked. */
  readonly tables: readonly string[];
  readonly digest: string;
}

/** Makes the record. `catalog`: this part of the schema, or more. */
export function seenSchema(
  part: CatalogPart,
  catalog: Catalog,
  tables: readonly string[],
  unreadable: Permissions['unreadable'],
): SeenSchema {
  const seen = [...catalog.tables].filter(([, table]) => isIn(part, table)).toSorted(byName);
  // The forms of rows do not belong to the schema.
  const columnsOf = (table: TableInfo) =>
    [...table.columns.values()].map(({ form: _, written: __, ...column }) => column);
  const texts = seen.map(([, table]) => ({ ...table, columns: columnsOf(table) }));
  const digest = createHash('sha256')
    .update(JSON.stringify([texts, unreadable]))
    .digest('hex');
  return { part, tables, digest };
}

/** True if the database still has the recorded schema. Throws DatabaseError. */
export async function isAsSeen(database: Database, { part, tables, digest }: SeenSchema): Promise<boolean> {
  const catalog = await database.catalog(part);
  const { unreadable } = await database.permissions(tables);
  return seenSchema(part, catalog, tables, unreadable).digest === digest;
}

type Entry = readonly [key: string, table: TableInfo];

function isIn({ tables, columns = [] }: CatalogPart, table: TableInfo): boolean {
  return tables.includes(table.name.toLowerCase()) || columns.some(column => table.columns.has(column));
}

function byName([a]: Entry, [b]: Entry): number {
  return a < b ? -1 : 1;
}
