/**
 * Decides which nodes can be absent. In: a node, and the columns that are never absent. Out: whether some row leaves
 * the node out. From this follow required elements that need a `needs`, and alternatives that are never reached.
 */
import type { Member, Node, ObjectNode } from '../../model.ts';

/** True if the node is emitted for every row that is served. */
export function isNeverAbsent(node: Node, certain: WeakSet<Node>): boolean {
  if (node.if) return false;
  switch (node.kind) {
    case 'constant':
      return true;
    case 'value':
    case 'ref':
      return certain.has(node);
    case 'object':
      return objectNeverAbsent(node, certain);
    case 'list':
      return node.items.some(item => isNeverAbsent(item, certain));
    case 'each':
      return false;
    case 'first':
      return node.alternatives.some(alternative => isNeverAbsent(alternative, certain));
    case 'text': {
      const parts = node.parts.filter(part => typeof part !== 'string');
      if (node.mode === 'template') return parts.every(part => isNeverAbsent(part, certain));
      return parts.some(part => isNeverAbsent(part, certain));
    }
  }
}

function objectNeverAbsent(node: ObjectNode, certain: WeakSet<Node>): boolean {
  const needed = node.needs.every(name => node.members.some(m => provides(m, name) && memberNeverAbsent(m, certain)));
  return needed && node.members.some(m => !isConstant(m) && memberNeverAbsent(m, certain));
}

/** Whether a member gives an element under this JSON name. */
export function provides(member: Member, name: string): boolean {
  if (member.kind === 'element') return member.name === name;
  return member.alternatives.some(alternative => alternative.some(named => named.name === name));
}

export function memberNeverAbsent(member: Member, certain: WeakSet<Node>): boolean {
  if (member.kind === 'element') return isNeverAbsent(member.node, certain);
  return member.alternatives.some(alternative => alternative.some(({ node }) => isNeverAbsent(node, certain)));
}

function isConstant(member: Member): boolean {
  return member.kind === 'element' && member.node.kind === 'constant';
}
