/**
 * Lists the child nodes of a node, and the named nodes of a member, in order.
 */
import type { Member, NamedNode, Node } from './model.ts';

/** The nodes directly within a node. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap(member => namedNodesOf(member).map(named => named.node));
    case 'list':
      return node.items;
    case 'each':
      return [node.item];
    case 'first':
      return node.alternatives;
    case 'ref':
      return node.members.map(member => member.node);
    case 'text':
      return node.parts.filter(part => typeof part !== 'string');
    case 'constant':
    case 'value':
      return [];
  }
}

/** The elements that a member can emit, those of all alternatives of a choice. */
export function namedNodesOf(member: Member): readonly NamedNode[] {
  return member.kind === 'element' ? [member] : member.alternatives.flat();
}
