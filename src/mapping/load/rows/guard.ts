/**
 * Reads `if` on a node. In: the node and its map. Out: the node under the condition.
 */
import type { Condition, Node } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, type Tree } from '../read/tree.ts';
import type { Visible } from './columns.ts';

/** The node with the map's `if`, if it has one. */
export function guard<N extends Node>(node: N, tree: Tree, visible: Visible, context: Context): N {
  const condition = child(tree, 'if');
  return condition ? withCondition(node, context.readCondition(condition, visible, context)) : node;
}

/** The node where a further condition holds too. */
export function withCondition<N extends Node>(node: N, condition: Condition): N {
  if (condition.kind === 'always') return node;
  return { ...node, if: node.if ? { kind: 'all', of: [node.if, condition] } : condition };
}
