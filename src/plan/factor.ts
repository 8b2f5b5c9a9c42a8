/**
 * Factors predicates. In: predicates. Out: the conjuncts that all of them share, and the rest of each, so that one
 * scan serves them all.
 */
import { and } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { predicateKey } from '../sql/expression-key.ts';

export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.kind === 'and' ? predicate.of : [predicate];
}

/** Conjuncts that all predicates share, and what remains of each. */
export function factor(predicates: readonly Predicate[]): {
  readonly common: readonly Predicate[];
  readonly specific: readonly Predicate[];
} {
  const lists = predicates.map(conjuncts);
  const [first = [], ...others] = lists.map(list => new Map(list.map(part => [predicateKey(part), part] as const)));
  const shared = new Set([...new Map(first).keys()].filter(key => others.every(other => other.has(key))));
  return {
    common: [...first].flatMap(([key, part]) => (shared.has(key) ? [part] : [])),
    specific: lists.map(list => and(...list.filter(part => !shared.has(predicateKey(part))))),
  };
}
