/**
 * Lists the columns that a pack reads, by walking the mappings. In: a registry. Out: per table its columns, each once,
 * for checks that fetch rows without the plans of the server.
 */

import { getOrInsert, memoized } from '../common/caches.ts';
import { childrenOf, columnsOf, testsIn } from '../mapping/children.ts';
import { codeMapOfRows, tableCodeMapOf } from '../mapping/load/codes/origin.ts';
import type {
  Condition,
  JoinColumn,
  Lookup,
  Mapping,
  Node,
  Pieces,
  Position,
  Registry,
  Scope,
  ValueNode,
} from '../mapping/model.ts';
import { type Catalog, findColumn, findTable } from '../sql/catalog.ts';
import { BYTES } from '../sql/column-type.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression, Order } from '../sql/expression.ts';
import { type Identifier, identifier, type TableName, tableKey } from '../sql/identifier.ts';

export interface TableColumns {
  readonly table: TableName;
  /** By name. The type is taken from the first use that has one. */
  readonly columns: ReadonlyMap<string, ColumnExpression>;
  /** Columns of the primary key, which identify its rows; empty if it has none. */
  readonly key: readonly ColumnExpression[];
}

type Tables = ReadonlyMap<Identifier, TableName>;

interface Found {
  readonly table: TableName;
  readonly columns: Map<string, ColumnExpression>;
  readonly key: ColumnExpression[];
  /** An `sql` reads its rows, so they are read one by one. */
  byRow: boolean;
}

/**
 * Reads the catalog of the tables that a pack reads. Out: it, and the columns by `tableKey` that the pack reads, with
 * the primary keys of the tables that an `sql` reads. Rejects with DatabaseError.
 */
export async function readColumns(
  registry: Registry,
  database: Database,
): Promise<{ readonly catalog: Catalog; readonly columns: ReadonlyMap<string, TableColumns> }> {
  const tables = [...foundIn(registry).values()].map(({ table }) => table.name);
  const catalog = await database.catalog({ tables });
  return { catalog, columns: columnsAndKeys(registry, catalog) };
}

function columnsAndKeys(registry: Registry, catalog: Catalog): ReadonlyMap<string, TableColumns> {
  const found = new Map(
    [...foundIn(registry)].map(([name, one]) => [name, { ...one, columns: new Map(one.columns), key: [...one.key] }]),
  );
  for (const { table, columns, key, byRow } of found.values()) {
    const info = byRow ? findTable(catalog, table) : undefined;
    if (!info) continue;
    // An `sql` of SQLite reads bare columns, so their types are those of the table.
    for (const column of columns.values()) {
      const type = column.type === BYTES ? findColumn(info, column.column)?.type : undefined;
      if (type) columns.set(column.column, { ...column, type });
    }
    for (const name of info.primaryKey) {
      const { name: spelled = name, type = BYTES } = findColumn(info, name) ?? {};
      const column = columns.get(spelled) ?? { kind: 'column', alias: ALIAS, column: identifier(spelled), type };
      columns.set(column.column, column);
      key.push(column);
    }
  }
  return found;
}

const ALIAS = identifier('t');

/** Cached: the walk through a large pack takes longer than making the resource of one row, which the workbench does. */
const foundIn = memoized((registry: Registry): ReadonlyMap<string, Found> => {
  const found = new Map<string, Found>();
  eachColumn(registry, (table, column, { byRow }) => {
    const known = getOrInsert(found, tableKey(table), () => ({ table, columns: new Map(), key: [], byRow: false }));
    known.byRow ||= byRow;
    const typed = known.columns.get(column.column);
    if (!typed || typed.type === BYTES) known.columns.set(column.column, column);
  });
  return found;
});

/** A place where a pack reads a column. */
export interface ColumnUse {
  readonly mapping: Mapping;
  /** Position of the element, the lookup or the mapping. */
  readonly at: Position;
  /** An `sql` reads its rows. */
  readonly byRow: boolean;
  /**
   * The node or condition that reads it, one object for all columns that it reads; undefined for a key, an id or an
   * order.
   */
  readonly by: Reader | undefined;
  /** The column is read to find the row of a code map in a table. */
  readonly ofCodeMap: boolean;
}

export type Reader = ValueNode | Pieces | Condition | JoinColumn | (Expression & { readonly kind: 'raw' });

/** Calls `see` for each place where a mapping reads a column. */
export function eachColumn(
  registry: Registry,
  see: (table: TableName, column: ColumnExpression, use: ColumnUse) => void,
): void {
  const [first] = registry.mappings;
  if (first === undefined) return;
  let use: Omit<ColumnUse, 'byRow'> = { mapping: first, at: first.at, by: undefined, ofCodeMap: false };
  /** Sets the position of what `visit` reads. */
  const placed = <T>(at: Position, visit: () => T): T => {
    const before = use;
    use = { ...use, at };
    const result = visit();
    use = before;
    return result;
  };
  /** Sets whether the reads of `visit` may find the row of a code map. */
  const findingCode = (ofCodeMap: boolean, visit: () => void): void => {
    const before = use;
    use = { ...use, ofCodeMap };
    visit();
    use = before;
  };
  /** Sets the reader of what `visit` reads. */
  const readBy = (by: Reader | undefined, visit: () => void): void => {
    const before = use;
    use = { ...use, by };
    visit();
    use = before;
  };
  const column = (of: Expression, tables: Tables, byRow = false): void => {
    const inner = of.kind === 'raw' ? of.parts : of.kind === 'function' ? of.args : [];
    readBy(of.kind === 'raw' ? of : use.by, () => {
      for (const part of inner) if (typeof part === 'object') column(part, tables, byRow || of.kind === 'raw');
    });
    const table = of.kind === 'column' ? tables.get(of.alias) : undefined;
    if (of.kind === 'column' && table) see(table, of, { ...use, byRow });
  };
  const orders = (order: readonly Order[], tables: Tables): void => {
    for (const { by } of order) column(by, tables);
  };
  const joins = (on: readonly JoinColumn[], theirs: Tables, ours: Tables): void => {
    for (const joined of on) {
      readBy(joined, () => {
        column(joined.theirs, theirs);
        column(joined.ours, ours);
      });
    }
  };
  const condition = (of: Condition | undefined, tables: Tables): void => {
    for (const test of testsIn(of)) {
      if (test.kind === 'exists') joins(test.on, scope(test.scope, tables), tables);
      else
        readBy(test, () => {
          for (const compared of columnsOf(test)) column(compared, tables);
        });
    }
  };
  /** Returns the tables that are visible within a scope. */
  const scope = (of: Scope, around: Tables): Tables => {
    const tables = new Map([...around, ...tablesIn(of)]);
    condition(of.where, tables);
    lookedUp(of.lookups, tables);
    return tables;
  };
  const lookedUp = (lookups: readonly Lookup[], tables: Tables): void => {
    for (const lookup of lookups) {
      placed(lookup.at, () => {
        findingCode(tableCodeMapOf(lookup) !== undefined, () => joins(lookup.on, tables, tables));
        condition(lookup.where, tables);
        orders(lookup.pick, tables);
      });
    }
  };
  const node = (of: Node, tables: Tables): void => placed(of.at, () => within(of, tables));
  const within = (of: Node, tables: Tables): void => {
    condition(of.if, tables);
    if (of.kind === 'value') {
      readBy(of, () => {
        for (const from of of.from) column(from, tables);
      });
    }
    if (of.kind === 'ref') {
      joins(of.on, tablesIn(registry.mapping(of.target).source), tables);
      mapping(registry.mapping(of.target));
    }
    if (of.kind === 'each' && of.from.kind === 'rows') {
      const inner = scope(of.from.scope, tables);
      const { on } = of.from;
      findingCode(codeMapOfRows(of.from) !== undefined, () => joins(on, inner, tables));
      orders(of.from.order, inner);
      node(of.item, inner);
      return;
    }
    if (of.kind === 'each' && of.from.kind === 'pieces') {
      const { column: split, alias, lookups = [] } = of.from;
      readBy(of.from, () => column(split, tables));
      // Pieces are no table, though a table may have the name of their alias.
      const inner = new Map([...tables, ...lookups.map(one => [one.alias, one.table] as const)]);
      inner.delete(alias);
      lookedUp(lookups, inner);
      node(of.item, inner);
      return;
    }
    for (const child of childrenOf(of)) node(child, tables);
  };
  const seen = new Set<Mapping>();
  const mapping = (of: Mapping): void => {
    if (seen.has(of)) return;
    seen.add(of);
    const around = use;
    use = { mapping: of, at: of.at, by: undefined, ofCodeMap: false };
    const { source, id, root, needs, changed } = of;
    const tables = scope(source, new Map());
    for (const one of [...source.key, ...source.onePer]) column(one, tables);
    for (const part of id.alternatives.flat()) if (part.kind === 'column') column(part.column, tables);
    for (const one of [root, ...needs, ...(changed ? [changed] : [])]) node(one, tables);
    use = around;
  };
  for (const one of registry.mappings) mapping(one);
}

/** Returns the aliases that a scope declares, with their tables. */
function tablesIn(scope: Scope): Tables {
  return new Map([
    [scope.alias, scope.table] as const,
    ...scope.lookups.map(({ alias, table }) => [alias, table] as const),
  ]);
}
