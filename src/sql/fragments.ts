/**
 * Remembers the SQL of parts that recur in many statements: presence of a mapping, flags, sub-selects. In: an
 * immutable part of a plan and a function that writes it. Out: its text, written once for the lifetime of the part;
 * its parameters are bound each time. Only for engines with positional placeholders.
 */
import type { Expression, Predicate } from './expression.ts';
import type { Parameter } from './plan.ts';

interface Fragment {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

export type Fragments = WeakMap<Expression | Predicate, Fragment>;

/** `bound`: the parameters of the statement so far, in their order. */
export function writtenOnce(
  part: Expression | Predicate,
  kept: Fragments,
  bound: Parameter[],
  write: () => string,
): string {
  const known = kept.get(part);
  if (known) {
    for (const parameter of known.parameters) bound.push({ ...parameter, name: `p${bound.length}` });
    return known.text;
  }
  const before = bound.length;
  const text = write();
  kept.set(part, { text, parameters: bound.slice(before) });
  return text;
}
