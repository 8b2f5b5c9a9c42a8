/**
 * Finds the inputs of a fragment. In: its nodes, and the inputs that a memo can be keyed by. Out: the expressions,
 * each once; undefined if the fragment has other inputs or too many.
 */

import { childrenOf, columnsOf, namedNodesOf, type Test, testsIn } from '../mapping/children.ts';
import type { Condition, Node, ValueNode } from '../mapping/model.ts';
import type { Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';

export interface Remembering {
  /** Distinct inputs at most. */
  readonly most: number;
  readonly value: (node: ValueNode) => boolean;
  /** Tests that look at the clock or into other tables are never among them. */
  readonly conditions: ReadonlySet<Condition['kind']>;
}

export function inputsOf(
  nodes: readonly Node[],
  { most, value, conditions }: Remembering,
): readonly Expression[] | undefined {
  const inputs = new Map<string, Expression>();
  const add = (expression: Expression): boolean => {
    if (expression.kind !== 'column' || expression.type.kind === 'binary') return false;
    inputs.set(expressionKey(expression), expression);
    return inputs.size <= most;
  };
  const seeTest = (test: Test): boolean =>
    test.kind !== 'now' && test.kind !== 'exists' && conditions.has(test.kind) && columnsOf(test).every(add);
  const see = (part: Node): boolean => {
    if (!testsIn(part.if).every(seeTest)) return false;
    switch (part.kind) {
      case 'constant':
        return true;
      case 'value':
        return value(part) && part.from.every(add);
      case 'object':
        return part.members.every(member => namedNodesOf(member).every(named => see(named.node)));
      case 'list':
        return part.items.every(see);
      case 'first':
        return part.alternatives.every(see);
      case 'text':
        return part.parts.every(piece => typeof piece === 'string' || see(piece));
      case 'each':
      case 'ref':
        return false;
    }
  };
  return nodes.every(see) && inputs.size > 0 ? [...inputs.values()] : undefined;
}

/** `expressionKey` of the columns that some node reads as a code, a unit or the like: they have few values. */
export function columnsOfFewValues(nodes: readonly Node[]): ReadonlySet<string> {
  const few = new Set<string>();
  const see = (node: Node): void => {
    if (node.kind === 'value' && node.codec.small) {
      const [column, ...others] = node.from;
      if (column && others.length === 0) few.add(expressionKey(column));
    }
    childrenOf(node).forEach(see);
  };
  nodes.forEach(see);
  return few;
}
