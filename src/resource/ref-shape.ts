/**
 * Finds what a reference needs of its row (V5): keys, columns of the target's id, and the flag that the target is
 * served. In: the reference and its target. Out: their positions.
 */
import type { Mapping, RefNode } from '../mapping/model.ts';
import { exists, flag } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { renameExpression } from '../sql/rename.ts';
import { type IdSource, idColumnsOf } from './id-columns.ts';
import type { RefShape, ShapeResolver } from './shape.ts';

/**
 * `need` fetches an expression with the row and returns its position. `served`: no row is read without its target, so
 * the target need not be looked for again.
 */
export function refShapeOf(
  node: RefNode,
  target: Mapping,
  need: (expression: Expression) => number,
  resolver: ShapeResolver,
  served: boolean,
): RefShape {
  const idColumns = idColumnsOf(target.id);
  const id = new Map<string, IdSource>();
  const shape = { node, target, id, positions: node.on.map(({ ours }) => need(ours)) };
  const ours = new Map(node.on.map(on => [expressionKey(on.theirs), on.ours]));
  if (idColumns.every(column => standsFor(column, ours.get(expressionKey(column)), node.exists))) {
    for (const column of idColumns) {
      const own = ours.get(expressionKey(column));
      if (!own) continue;
      const castTo = own.type.kind === column.type.kind ? {} : { castTo: column.type };
      id.set(expressionKey(column), { position: need(own), ...castTo });
    }
    if (!node.exists || served) return { ...shape, never: false };
    const there = exists(resolver.targetRelation(target, node.on, []).relation);
    const known = constantOf(there);
    return { ...shape, ...(known === undefined ? { flag: need(flag(there)) } : {}), never: known === false };
  }
  const { relation, aliases } = resolver.targetRelation(target, node.on, idColumns);
  if (relation.where.kind === 'false') return { ...shape, never: true };
  for (const column of idColumns) {
    const select = renameExpression(column, aliases);
    id.set(expressionKey(column), { position: need({ kind: 'scalar', select, from: relation, type: column.type }) });
  }
  return { ...shape, never: false };
}

/** Our column stands for an id column of the target; where it must be proved in SQL, only if it needs no cast. */
function standsFor(column: ColumnExpression, ours: Expression | undefined, proved: boolean): boolean {
  return ours !== undefined && (!proved || ours.type.kind === column.type.kind);
}

/** What a predicate is known to be. */
export function constantOf(predicate: Predicate): boolean | undefined {
  return predicate.kind === 'true' ? true : predicate.kind === 'false' ? false : undefined;
}
