/**
 * Lists the child nodes of a node, in order.
 */
import type { Node } from './model.ts';

/** The nodes directly within a node. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap(m => (m.kind === 'element' ? [m.node] : m.alternatives.flat().map(n => n.node)));
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
