/**
 * Traverses mappings: the child nodes of a node, the named nodes of a member, the tests of a condition, in order; and
 * which nodes depend on a row.
 */

import type { ColumnExpression } from '../sql/expression.ts';
import type { Condition, Member, NamedNode, Node, RefNode } from './model.ts';

/** Returns the nodes directly within a node. */
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
    case 'lines':
      return [node.each];
    case 'constant':
    case 'value':
      return [];
  }
}

/** Returns the references that a node is or contains, at any depth. */
export function referencesIn(node: Node): readonly RefNode[] {
  const inner = childrenOf(node).flatMap(referencesIn);
  return node.kind === 'ref' ? [node, ...inner] : inner;
}

/** Returns the elements that a member can emit; of a choice those of all alternatives. */
export function namedNodesOf(member: Member): readonly NamedNode[] {
  return member.kind === 'element' ? [member] : member.alternatives.flat();
}

/** Returns the names of the elements from a node down to one within it; undefined if it is not within. */
export function namesTo(root: Node, node: Node): readonly string[] | undefined {
  if (root === node) return [];
  const named = root.kind === 'object' ? root.members.flatMap(namedNodesOf) : root.kind === 'ref' ? root.members : [];
  for (const { name, node: inner } of named) {
    const found = namesTo(inner, node);
    if (found) return [name, ...found];
  }
  if (named.length > 0) return undefined;
  for (const inner of childrenOf(root)) {
    const found = namesTo(inner, node);
    if (found) return found;
  }
  return undefined;
}

/**
 * True if the node's own or inner values depend on the row. Constants, even conditional ones, never make the enclosing
 * object exist; an object of constants alone is a constant itself. The tree decides it, so that the planner's SQL and
 * the writer agree.
 */
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
    case 'lines':
      return true;
  }
}

export function isDynamicMember(member: Member): boolean {
  return namedNodesOf(member).some(({ node }) => isDynamic(node));
}

export type Test = Exclude<Condition, { readonly kind: 'always' | 'all' | 'any' | 'none' }>;

/** Returns the parts of a condition that are no `all`, `any` or `none` of others, in order. */
export function testsIn(condition: Condition | undefined): readonly Test[] {
  if (condition === undefined) return [];
  switch (condition.kind) {
    case 'always':
      return [];
    case 'all':
    case 'any':
      return condition.of.flatMap(testsIn);
    case 'none':
      return testsIn(condition.of);
    default:
      return [condition];
  }
}

/** Returns the columns that a test compares: one, or the two that are compared with each other. */
export function columnsOf(test: Exclude<Test, { readonly kind: 'exists' }>): readonly ColumnExpression[] {
  return 'other' in test ? [test.column, test.other] : [test.column];
}
