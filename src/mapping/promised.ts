/**
 * Checks whether the schema guarantees that columns identify at most one row. In: a scope, columns, and the catalog of
 * its table. Out: true if the primary key or a unique index guarantees it.
 */
import type { TableInfo } from '../sql/catalog.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import type { Scope } from './model.ts';

/**
 * True if a primary key or unique index makes these columns of the scope's own table unique. `strictly`: also as texts
 * are compared. An index of another collation distinguishes `A` from `A `, which are one value to every search.
 */
export function isPromised(
  scope: Scope,
  columns: readonly ColumnExpression[],
  table: TableInfo | undefined,
  strictly = false,
): boolean {
  if (!table) return false;
  const given = new Set(columns.filter(c => c.alias === scope.alias).map(c => c.column.toLowerCase()));
  const unique = table.indexes.filter(index => index.unique && !(strictly && index.unfit)).map(index => index.columns);
  const keys = strictly ? unique : [table.primaryKey, ...unique];
  return keys.some(key => key.length > 0 && key.every(column => given.has(column.toLowerCase())));
}

/** Returns the columns that a `where` fixes to one value. */
export function fixedColumns({ where }: Scope): readonly ColumnExpression[] {
  const tests = where.kind === 'all' ? where.of : [where];
  return tests.flatMap(test => (test.kind === 'is' && test.values.length === 1 ? [test.column] : []));
}
