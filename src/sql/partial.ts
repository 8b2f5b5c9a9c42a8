/**
 * Combines predicates some of which may be undefined because SQL cannot answer them. Out: a predicate, or undefined if
 * the answer depends on an undefined part.
 */
import { and, FALSE, or } from './construct.ts';
import type { Predicate } from './expression.ts';

/** Disjunction of what can be asked; undefined if one part cannot. */
export function some(parts: readonly (Predicate | undefined)[]): Predicate | undefined {
  const known = parts.filter(part => part !== undefined);
  return known.length === parts.length ? or(...known) : undefined;
}

/** Conjunction likewise; FALSE decides even if another part cannot be asked. */
export function every(parts: readonly (Predicate | undefined)[]): Predicate | undefined {
  if (parts.some(part => part?.kind === 'false')) return FALSE;
  const known = parts.filter(part => part !== undefined);
  return known.length === parts.length ? and(...known) : undefined;
}
