/**
 * Sorting by references. In: a reference. Out: how it sorts: by the type of what it refers to, then as that type sorts by
 * `_id` (sort-ids.ts); undefined where the ids of the target have several forms. Our own columns stand for the target's
 * where they are all that its id is made of, so that their index serves the order; else its row is looked up.
 */
import type { RefNode } from '../mapping/model.ts';
import type { ColumnExpression, Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { renameExpression } from '../sql/rename.ts';
import type { Environment } from './environment.ts';
import { targetRelation } from './presence.ts';
import type { SortFace } from './sort.ts';
import { idFace } from './sort-ids.ts';

export function referenceFace(node: RefNode, env: Environment): SortFace | undefined {
  const target = env.registry.mapping(node.target);
  const [parts, ...others] = target.id.alternatives;
  if (!parts || others.length > 0) return undefined;
  const columns = parts.flatMap(part => (part.kind === 'column' ? [part.column] : []));
  const own = columns.map(column => ownColumn(node, column));
  const read = own.includes(undefined) ? lookedUp(node, columns, env) : own;
  const byColumn = new Map(columns.map((column, i) => [column, read[i] ?? column]));
  const face = idFace(parts, `${target.resource}/`, column => byColumn.get(column) ?? column);
  return { ...face, apart: [face.apart, ...face.by.map(expressionKey)].join() };
}

/** Our column that is joined with a column of the target and holds the same values. */
function ownColumn({ on }: RefNode, column: ColumnExpression): Expression | undefined {
  const pair = on.find(({ theirs }) => theirs.alias === column.alias && theirs.column === column.column);
  return pair?.ours.type.kind === column.type.kind ? pair.ours : undefined;
}

function lookedUp(node: RefNode, columns: readonly ColumnExpression[], env: Environment): readonly Expression[] {
  const { relation, aliases } = targetRelation(env.registry.mapping(node.target), node.on, env, columns);
  return columns.map(column => ({
    kind: 'scalar',
    select: renameExpression(column, aliases),
    from: relation,
    type: column.type,
  }));
}
