/**
 * Lists the tables and columns that no mapping reads. In: the pack, the catalog, the database. Out: tables and columns,
 * those with the most rows first. It only counts rows, table by table, until its time is over.
 */
import { getOrInsert } from '../common/caches.ts';
import type { Registry } from '../mapping/model.ts';
import { type Catalog, type TableInfo, tableText } from '../sql/catalog.ts';
import { TRUE } from '../sql/construct.ts';
import { type Database, DatabaseError, wasEnded, within } from '../sql/database.ts';
import { identifier, isIdentifier } from '../sql/identifier.ts';

export interface Unused {
  /** Tables that no mapping reads. */
  readonly tables: readonly UnusedTable[];
  /** Tables that some mapping reads, with the columns that no mapping reads. */
  readonly columns: readonly UnusedColumns[];
}

interface UnusedTable {
  readonly table: string;
  /** Null if not counted, because the time ended or the login may not read it. */
  readonly rows: number | null;
  readonly columns: number;
}

interface UnusedColumns {
  readonly table: string;
  readonly rows: number | null;
  readonly columns: readonly string[];
}

/** Returns the unused parts. `count`: returns the number of rows of a table; see rowCounter. */
export async function unusedOf(
  registry: Registry,
  catalog: Catalog,
  count: (table: string) => Promise<number | null>,
): Promise<Unused> {
  const used = columnsUsed(registry);
  const tables: UnusedTable[] = [];
  const columns: UnusedColumns[] = [];
  for (const table of catalog.tables.values()) {
    const read = used.get(table.name.toLowerCase());
    const left = [...table.columns].filter(([name]) => !read?.has(name)).map(([, info]) => info.name);
    if (read !== undefined && left.length === 0) continue;
    const name = tableText(table);
    const rows = await count(name);
    if (read === undefined) tables.push({ table: name, rows, columns: table.columns.size });
    else columns.push({ table: name, rows, columns: left });
  }
  return { tables: tables.toSorted(byRows), columns: columns.toSorted(byRows) };
}

type Counted = Pick<UnusedTable, 'table' | 'rows'>;

function byRows(a: Counted, b: Counted): number {
  return (b.rows ?? -1) - (a.rows ?? -1) || (a.table < b.table ? -1 : 1);
}

/** Returns a function that counts rows, until the time is over. Throws DatabaseError if the database fails. */
export function rowCounter(database: Database, seconds: number): (table: string) => Promise<number | null> {
  const signal = within(seconds * 1000);
  return async table => {
    const [name = '', schema] = table.split('.').reverse();
    if (signal.aborted || !isIdentifier(name) || (schema !== undefined && !isIdentifier(schema))) return null;
    const from = {
      table: schema === undefined ? { name } : { schema, name },
      alias: identifier('t'),
      joins: [],
      where: TRUE,
    };
    try {
      const plan = { from, columns: [], orderBy: [], limit: 1, shape: 'count' } as const;
      const [row] = await database.query(plan, { bulkhead: 'export', signal });
      return Number(row?.[0] ?? 0);
    } catch (error) {
      if (wasEnded(error) || (error instanceof DatabaseError && error.missing)) return null;
      throw error;
    }
  };
}

/** Returns the columns that mappings read, by table, in lower case. */
export function columnsUsed(registry: Pick<Registry, 'mappings'>): ReadonlyMap<TableInfo['name'], ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  const of = (table: string): Set<string> => {
    return getOrInsert(used, table, () => new Set());
  };
  for (const mapping of registry.mappings) {
    const tables = new Map<string, Set<string>>();
    const columns: (readonly [alias: string, column: string])[] = [];
    // Walks the whole model, which is plain data, and recognizes scopes and columns by their members.
    const seen = new Set<object>();
    const visit = (part: object): void => {
      if (seen.has(part)) return;
      seen.add(part);
      const { kind, alias, column, table }: { readonly [name: string]: unknown } = { ...part };
      if (kind === 'column' && typeof alias === 'string' && typeof column === 'string')
        columns.push([alias, column.toLowerCase()]);
      if (typeof alias === 'string' && table !== null && typeof table === 'object' && 'name' in table) {
        const name = `${table.name}`.toLowerCase();
        of(name);
        tables.set(alias, (tables.get(alias) ?? new Set()).add(name));
      }
      for (const inner of Object.values(part)) if (inner !== null && typeof inner === 'object') visit(inner);
    };
    visit(mapping);
    for (const [alias, column] of columns) for (const table of tables.get(alias) ?? []) of(table).add(column);
  }
  return used;
}
