/**
 * Rows of `each`: one query per collection per page, never one per row. In: rows of a level. Out: for each its children.
 */
import type { JoinColumn } from '../mapping/model.ts';
import { scopeRelation } from '../plan/condition.ts';
import { inStatements, theirsAmong } from '../plan/key.ts';
import { type ChildRow, type Children, childrenOf, NO_CHILDREN } from '../resource/rows.ts';
import type { ChildShape, LevelShape } from '../resource/shape.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import type { Session } from './source.ts';

/** Child rows of one collection of one statement; more is a fault of the mapping's `on`, not data of a page. */
const CHILD_ROWS_AT_MOST = 200_000;

/** The children of each row, all levels down. `mapping`: whose rows they are. */
export async function readChildren(
  rows: readonly Row[],
  level: LevelShape,
  mapping: string,
  session: Session,
): Promise<readonly Children[]> {
  if (level.children.length === 0 || rows.length === 0) return rows.map(() => NO_CHILDREN);
  const lists = await Promise.all(level.children.map(shape => readCollection(rows, shape, mapping, session)));
  return childrenOf(rows, level, lists);
}

async function readCollection(
  parents: readonly Row[],
  shape: ChildShape,
  mapping: string,
  session: Session,
): Promise<readonly ChildRow[]> {
  const { on, scope, order } = shape.each.from;
  const keys = distinctKeys(parents, shape, on);
  const rows: Row[] = [];
  for (const some of inStatements(keys)) {
    const from = scopeRelation(scope, theirsAmong(on, some), session.env, [
      ...shape.columns,
      ...order.map(({ by }) => by),
    ]);
    const plan: SqlPlan = {
      from,
      columns: shape.columns,
      orderBy: order,
      limit: CHILD_ROWS_AT_MOST,
      shape: 'rows',
    };
    const found = await session.query(plan, mapping);
    if (found.length >= CHILD_ROWS_AT_MOST)
      throw new RangeError(`more than ${CHILD_ROWS_AT_MOST} rows of ${scope.table.name} for one page`);
    for (const row of found) rows.push(row);
  }
  const children = await readChildren(rows, shape, mapping, session);
  return rows.map((row, i) => ({ row, children: children[i] ?? NO_CHILDREN }));
}

/** Keys of the parents in the form of `theirs`, each once; a parent with a NULL in its key has no children. */
function distinctKeys(
  parents: readonly Row[],
  shape: ChildShape,
  on: readonly JoinColumn[],
): readonly (readonly SqlValue[])[] {
  const keys = new Map<string, readonly SqlValue[]>();
  for (const parent of parents) {
    const key = shape.parentPositions.map((at, i) => inFormOf(parent[at] ?? null, on[i]?.theirs.type));
    if (key.includes(null)) continue;
    keys.set(
      key.map(part => (part instanceof Uint8Array ? Buffer.from(part).toString('hex') : `${part}`)).join('\0'),
      key,
    );
  }
  return [...keys.values()];
}

/** Our raw value as their column holds it; null where it cannot be there. */
function inFormOf(raw: SqlValue, type: ColumnType | undefined): SqlValue {
  if (raw === null || !type) return null;
  if (type.kind === 'integer' && typeof raw === 'string') return /^-?\d{1,18}$/.test(raw.trim()) ? raw.trim() : null;
  if (type.kind === 'text' && typeof raw === 'number') return String(raw);
  return raw;
}
