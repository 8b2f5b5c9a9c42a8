/**
 * Determines how the cache notices changes, for one version of the mappings. In: mappings, catalog, database. Out: the
 * watermarks of tables that record when they were last changed, each read as the greatest `changed` by an index; and
 * the tables whose rows change their meaning over time.
 */
import type { Mapping, Registry } from '../mapping/model.ts';
import { type Catalog, findTable } from '../sql/catalog.ts';
import { isMixed, utcLayoutOf } from '../sql/column-type.ts';
import { among, and, constant, isNull, not, TRUE } from '../sql/construct.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression } from '../sql/expression.ts';
import { type TableName, tableKey } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { createWatermarks, type Watermarks } from './watermarks.ts';

export interface Freshness {
  readonly watermarks: Watermarks;
  readonly timed: ReadonlySet<string>;
}

/** `clock`: milliseconds of a monotonic clock. */
export function freshnessOf(
  registry: Registry,
  catalog: Catalog,
  database: Pick<Database, 'query'>,
  clock: () => number = () => performance.now(),
): Freshness {
  const read = [...watermarkPlans(registry, catalog)].map(
    ([table, plan]) => [table, async () => JSON.stringify(await database.query(plan))] as const,
  );
  return { watermarks: createWatermarks(new Map(read), clock), timed: timedTables(registry) };
}

/** Returns the plan that reads the watermark of each watched table, by `tableKey`. */
export function watermarkPlans(registry: Registry, catalog: Catalog): ReadonlyMap<string, SqlPlan> {
  const plans = new Map<string, SqlPlan>();
  for (const mapping of registry.mappings) {
    const column = changedColumn(mapping);
    const table = column && tableOf(mapping, column);
    const { codec } = mapping.changed ?? {};
    // No index has the order of a value that is computed per row.
    const [by] = column && codec?.inverse === 'indexed' ? (codec.order?.by([column]) ?? []) : [];
    if (table && by && !plans.has(tableKey(table)) && leadsAnIndex(catalog, table, column)) {
      plans.set(tableKey(table), greatest(table, column, by, absentOf(column, table, registry)));
    }
  }
  return plans;
}

/** Returns the keys of tables whose mappings compare with the present instant. */
export function timedTables(registry: Registry): ReadonlySet<string> {
  return new Set(registry.mappings.filter(({ usesNow }) => usesNow).map(({ source }) => tableKey(source.table)));
}

/**
 * Returns the column of `changed`; undefined for two, a date and a time, because no single index has their greatest
 * value.
 */
function changedColumn({ changed }: Mapping): ColumnExpression | undefined {
  const [column, ...more] = changed?.from ?? [];
  return column?.kind === 'column' && more.length === 0 ? column : undefined;
}

function tableOf({ source }: Mapping, { alias }: ColumnExpression): TableName | undefined {
  if (source.alias === alias) return source.table;
  return source.lookups.find(lookup => lookup.alias === alias)?.table;
}

/** Returns the values of the column that mean "no value" to any mapping. */
function absentOf(column: ColumnExpression, table: TableName, { mappings }: Registry): ReadonlySet<string | number> {
  const same = mappings.filter(mapping => {
    const other = changedColumn(mapping);
    const its = other && tableOf(mapping, other);
    return its && other.column === column.column && tableKey(its) === tableKey(table);
  });
  return new Set(same.flatMap(({ changed }) => changed?.absent ?? []));
}

function leadsAnIndex(catalog: Catalog, table: TableName, { column }: ColumnExpression): boolean {
  const indexes = findTable(catalog, table)?.indexes ?? [];
  return indexes.some(({ columns }) => columns[0]?.toLowerCase() === column.toLowerCase());
}

/**
 * Plans the greatest value of all rows, ignoring the mapping's `where`: a row that is deleted by a flag has changed
 * too. Ignores values that mean "no value": 9999-12-31 would be the greatest for ever.
 */
function greatest(
  table: TableName,
  column: ColumnExpression,
  by: Expression,
  absent: ReadonlySet<string | number>,
): SqlPlan {
  // A value that is not a date might sort after all dates.
  const present = isMixed(column.type) || utcLayoutOf(column.type)?.mixed ? not(isNull(column)) : TRUE;
  const values = [...absent].map(raw => constant(raw, column.type));
  return {
    from: { table, alias: column.alias, joins: [], where: and(present, not(among(column, values))) },
    columns: [column],
    // NULL sorts last in descending order, on every engine.
    orderBy: [{ by, descending: true }],
    limit: 1,
    shape: 'rows',
  };
}
