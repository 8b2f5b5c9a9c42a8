/**
 * The branches of a mapping: what holds where an alternative of `first` is taken, and where an `if` holds. In: a mapping and the
 * environment of its predicates. Out: a predicate for each branch of the row itself, so that the sample has a row of each.
 */
import { childrenOf } from '../mapping/children.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { presentPredicate } from '../plan/presence.ts';
import { and, not, or } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';

/** Branches that rows are looked for, of one mapping. */
const MOST = 60;

/** Predicates of the branches, none of them certain or impossible; at most MOST. Items of child rows are not among them. */
export function branchesOf(mapping: Mapping, env: Environment): readonly Predicate[] {
  const found: Predicate[] = [];
  const take = (alternatives: readonly Predicate[]): void => {
    for (const [i, one] of alternatives.entries()) found.push(and(not(or(...alternatives.slice(0, i))), one));
  };
  const visit = (node: Node): void => {
    if (node.kind === 'each') return;
    if (node.if) found.push(and(conditionPredicate(node.if, env), presentPredicate(node, env)));
    if (node.kind === 'first') take(node.alternatives.map(one => presentPredicate(one, env)));
    if (node.kind === 'object') {
      for (const member of node.members) {
        if (member.kind !== 'choice') continue;
        take(member.alternatives.map(named => or(...named.map(one => presentPredicate(one.node, env)))));
      }
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(mapping.root);
  return found.filter(({ kind }) => kind !== 'true' && kind !== 'false').slice(0, MOST);
}
