/**
 * Finds the branches of a mapping: alternatives of `first` and conditions of `if`, also in child rows and in pieces of
 * a text. In: a mapping and the environment of its predicates. Out: a predicate on the row for each branch, so that the
 * sample can include a row of each, and how many branches were left out.
 */
import { childrenOf } from '../mapping/children.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { eachPredicate, presentPredicate } from '../plan/presence.ts';
import { and, not, or } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';

/** Maximum number of branches per mapping for which rows are searched. */
const MOST = 200;

export interface MappingBranches {
  /** Predicates that are neither always true nor always false; those of the row itself first. */
  readonly looked: readonly Predicate[];
  /** How many further branches the mapping has. */
  readonly left: number;
}

/** Returns the predicates of the branches of a mapping, at most MOST. */
export function branchesOfMapping(mapping: Mapping, env: Environment): MappingBranches {
  const found: { readonly where: Predicate; readonly depth: number }[] = [];
  /** `around`: turns a predicate on the row or piece of a node into one on the row of the mapping. */
  const visit = (node: Node, around: (inner: Predicate) => Predicate, depth: number): void => {
    const add = (inner: Predicate): void => {
      if (inner.kind !== 'true' && inner.kind !== 'false') found.push({ where: around(inner), depth });
    };
    const take = (alternatives: readonly Predicate[]): void => {
      for (const [i, one] of alternatives.entries()) add(and(not(or(...alternatives.slice(0, i))), one));
    };
    if (node.if) add(and(conditionPredicate(node.if, env), presentPredicate(node, env)));
    if (node.kind === 'first') take(node.alternatives.map(one => presentPredicate(one, env)));
    if (node.kind === 'object') {
      for (const member of node.members) {
        if (member.kind !== 'choice') continue;
        take(member.alternatives.map(named => or(...named.map(one => presentPredicate(one.node, env)))));
      }
    }
    if (node.kind === 'each') visit(node.item, inner => around(eachPredicate(node, inner, env)), depth + 1);
    else for (const child of childrenOf(node)) visit(child, around, depth);
  };
  visit(mapping.root, inner => inner, 0);
  const inOrder = found.toSorted((a, b) => a.depth - b.depth).map(({ where }) => where);
  return { looked: inOrder.slice(0, MOST), left: Math.max(0, inOrder.length - MOST) };
}
