/**
 * Reads `if` on a node. In: the node and its map. Out: the node under the condition.
 */
import type { Condition, Node } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, type Tree } from '../read/tree.ts';
import type { Visible } from './columns.ts';

/** Adds the map's `if` to the node, if there is one. */
export function guard<N extends Node>(node: N, tree: Tree, visible: Visible, context: Context): N {
  const condition = child(tree, 'if');
  return condition ? withCondition(node, context.readCondition(condition, visible, context)) : node;
}

/** Adds a further condition to the node. */
export function withCondition<N extends Node>(node: N, condition: Condition): N {
  if (condition.kind === 'always') return node;
  return { ...node, if: node.if ? { kind: 'all', of: [node.if, condition] } : condition };
}
