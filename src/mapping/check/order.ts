/**
 * Finds ambiguous orders: `pick` of lookups and `order` of child rows by which several rows of one parent are equal.
 * The engine then chooses among them anew in each statement, and a resource may be found or sorted by another row than
 * it shows. In: lookups and `each` nodes. Out: warnings with numbers, never with values. Pages are not affected, as
 * they go by the key.
 */
import { type Catalog, findTable } from '../../sql/catalog.ts';
import { TRUE } from '../../sql/construct.ts';
import type { ColumnExpression, Order } from '../../sql/expression.ts';
import type { Report } from '../load/problem.ts';
import type { ChildRows, Lookup, Position, Scope } from '../model.ts';
import { fixedColumns, isPromised } from '../promised.ts';
import type { ScopedChildRows, ScopedLookup } from './parts.ts';
import { type Asking, countDuplicates, isClosed, manyOf } from './questions.ts';
import { exactly, joinedBy } from './unique.ts';

interface Ordered {
  readonly rows: Scope;
  readonly on: Lookup['on'] | ChildRows['on'];
  readonly order: readonly Order[];
  readonly at: Position;
}

/** Asked for each lookup with `pick`, and for each `each` with `order`. */
export async function checkOrders(
  lookups: readonly ScopedLookup[],
  children: readonly ScopedChildRows[],
  catalog: Catalog,
  asking: Asking,
  report: Report,
): Promise<void> {
  for (const { lookup } of lookups) {
    const { table, alias, where, on, pick, at } = lookup;
    const ordered = { rows: { table, alias, where, lookups: [] }, on, order: pick, at };
    await checkOrder(`\`pick\` of lookup ${alias}`, ordered, catalog, asking, report);
  }
  for (const { from, at } of children) {
    const ordered = { rows: from.scope, on: from.on, order: from.order, at };
    await checkOrder('`order`', ordered, catalog, asking, report);
  }
}

/** Rows without a value to order by are as much alike as others. */
async function checkOrder(
  what: string,
  { rows, on, order, at }: Ordered,
  catalog: Catalog,
  asking: Asking,
  report: Report,
): Promise<void> {
  const theirs = on.map(joinedBy);
  const columns = order.flatMap(columnOf);
  if (order.length === 0 || !isClosed(rows)) return;
  if (isPromised(rows, [...exactly(on), ...columns, ...fixedColumns(rows)], findTable(catalog, rows.table), true))
    return;
  const tied = await countDuplicates(asking, rows, [...theirs, ...columns], TRUE, theirs);
  if (tied === 0) return;
  report.warning(
    'unstable-order',
    at,
    `${what} is the same in several rows, ${manyOf(tied, 'time')}: the engine says which comes first`,
    {
      expected: 'a further column that sets them apart',
    },
  );
}

function columnOf({ by }: Order): readonly ColumnExpression[] {
  return by.kind === 'column' ? [by] : [];
}
