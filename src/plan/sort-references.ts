/**
 * Sorts by references. In: a reference. Out: its order: by the type of the target, then as this type sorts by `_id`
 * (sort-ids.ts), for each form of the target's ids. Own columns are used if they are all that the target's id is made
 * of, so that their index serves the order; else the target is joined.
 */
import type { IdPart } from '../mapping/id-rule.ts';
import type { Mapping, RefNode } from '../mapping/model.ts';
import { exists, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { renameExpression } from '../sql/rename.ts';
import type { Environment } from './environment.ts';
import { targetRelation } from './presence.ts';
import type { FaceWhen, SortFace } from './sort.ts';
import { idFace, idForms } from './sort-ids.ts';

/** Undefined where nothing tells which form an id has. */
export function referenceFaces(node: RefNode, env: Environment): readonly FaceWhen[] | undefined {
  const target = env.registry.mapping(node.target);
  const forms = idForms(target);
  if (forms.length === 1) return forms.map(({ parts }) => ({ when: TRUE, face: faceOf(node, target, parts, env) }));
  // What is emitted from our columns alone has been asked of no row.
  if (!node.exists) return undefined;
  return forms.map(({ parts, where }) => ({
    when: leadsTo(node, target, where, env),
    face: faceOf(node, target, parts, env),
  }));
}

/** The reference leads to a row that satisfies `form`; asked of rows whose reference is emitted. */
function leadsTo(node: RefNode, target: Mapping, form: Predicate, env: Environment): Predicate {
  const there = exists(targetRelation(target, node.on, env, [], form).relation);
  return there.kind === 'exists' ? { ...there, byRow: true } : there;
}

function faceOf(node: RefNode, target: Mapping, parts: readonly IdPart[], env: Environment): SortFace {
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
