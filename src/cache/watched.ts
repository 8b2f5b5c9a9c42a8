/**
 * Which tables say when they were last changed. In: the mappings, the catalog. Out: for each such table the plan of one
 * statement that reads its greatest `changed`, which the first column of an index makes cheap; and the tables whose rows
 * mean something else as time goes by.
 */
import type { Mapping, Registry } from '../mapping/model.ts';
import { type Catalog, findTable } from '../sql/catalog.ts';
import { TRUE } from '../sql/construct.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import type { TableName } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { tableKey } from './tables.ts';

/** By the tables' keys. */
export function watermarkPlans(registry: Registry, catalog: Catalog): ReadonlyMap<string, SqlPlan> {
  const plans = new Map<string, SqlPlan>();
  for (const mapping of registry.mappings) {
    const column = changedColumn(mapping);
    const table = column && tableOf(mapping, column);
    if (table && !plans.has(tableKey(table)) && leadsAnIndex(catalog, table, column)) {
      plans.set(tableKey(table), greatest(table, column));
    }
  }
  return plans;
}

/** Sources of mappings that compare with the present instant, by the tables' keys. */
export function timedTables(registry: Registry): ReadonlySet<string> {
  return new Set(registry.mappings.filter(({ usesNow }) => usesNow).map(({ source }) => tableKey(source.table)));
}

/** A `changed` of two columns, a date and a time, has no greatest value that one index knows. */
function changedColumn({ changed }: Mapping): ColumnExpression | undefined {
  const [column, ...more] = changed?.from ?? [];
  return column?.kind === 'column' && more.length === 0 ? column : undefined;
}

function tableOf({ source }: Mapping, { alias }: ColumnExpression): TableName | undefined {
  if (source.alias === alias) return source.table;
  return source.lookups.find(lookup => lookup.alias === alias)?.table;
}

function leadsAnIndex(catalog: Catalog, { name }: TableName, { column }: ColumnExpression): boolean {
  const indexes = findTable(catalog, name)?.indexes ?? [];
  return indexes.some(({ columns }) => columns[0]?.toLowerCase() === column.toLowerCase());
}

/** Of all rows, whatever the mapping's `where` says: a row that is deleted by a flag has changed too. */
function greatest(table: TableName, column: ColumnExpression): SqlPlan {
  return {
    from: { table, alias: column.alias, joins: [], where: TRUE },
    columns: [column],
    // NULL comes last when descending, on every engine.
    orderBy: [{ by: column, descending: true, native: true }],
    limit: 1,
    shape: 'rows',
  };
}
