/**
 * Decides which nodes depend on a row. Constants, even conditional ones, never make the object around them exist; an
 * object of constants alone is a constant itself. It is decided on the tree, so that the planner's SQL and the writer
 * agree.
 */
import { namedNodesOf } from './children.ts';
import type { Member, Node } from './model.ts';

/** Whether some row-dependent value is among the node's own or inner values. */
export function isDynamic(node: Node): boolean {
  switch (node.kind) {
    case 'constant':
      return false;
    case 'object':
      return node.members.some(isDynamicMember);
    case 'list':
      return node.items.some(isDynamic);
    case 'first':
      return node.alternatives.some(isDynamic);
    case 'value':
    case 'each':
    case 'ref':
    case 'text':
      return true;
  }
}

export function isDynamicMember(member: Member): boolean {
  return namedNodesOf(member).some(({ node }) => isDynamic(node));
}
