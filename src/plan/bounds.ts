/**
 * Weakens a condition to its parts on chosen columns, so that an index on these columns can be used. In: a condition.
 * Out: a condition that it implies, made of some of its parts only.
 */
import { and, some } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';

/**
 * Returns what the condition implies. `leaf` returns the bound of one part; undefined if it has none. Returns undefined
 * if the parts do not limit the rows.
 */
export function boundOf(of: Predicate, leaf: (part: Predicate) => Predicate | undefined): Predicate | undefined {
  return boundWithin(of, leaf, undefined, () => undefined);
}

/**
 * Likewise, if the bound of a part depends on the conjunctions around it: `inside` adds one conjunction to `around`.
 */
export function boundWithin<T>(
  of: Predicate,
  leaf: (part: Predicate, around: T) => Predicate | undefined,
  around: T,
  inside: (conjuncts: readonly Predicate[], around: T) => T,
): Predicate | undefined {
  switch (of.kind) {
    case 'and': {
      const inner = inside(of.of, around);
      const bounds = of.of.flatMap(part => boundWithin(part, leaf, inner, inside) ?? []);
      return bounds.length === 0 ? undefined : and(...bounds);
    }
    case 'or':
      return some(of.of.map(part => boundWithin(part, leaf, around, inside)));
    default:
      return leaf(of, around);
  }
}

/** True if the condition compares with a code or text of the request. Ranges do not count: they leave too many rows. */
export function asksExactly(of: Predicate): boolean {
  switch (of.kind) {
    case 'and':
      return of.of.some(asksExactly);
    case 'or':
      return of.of.every(asksExactly);
    case 'equals':
      return !of.not && (isOfRequest(of.left) || isOfRequest(of.right));
    case 'in':
      return !of.not && of.values.some(isOfRequest);
    case 'contains':
      return !of.not;
    default:
      return false;
  }
}

function isOfRequest(of: Expression): boolean {
  return of.kind === 'value' && !of.constant;
}

/** True if the condition uses columns of this alias only. */
export function isOf(of: Predicate, alias: Identifier): boolean {
  const free = freeAliases(of);
  return free.size === 1 && free.has(alias);
}

/**
 * Returns the aliases that a condition uses but does not declare in its own relations. One part may use an alias that
 * another part declares: `n.CODE = 'A' AND d.ID IN (SELECT n.ID FROM N AS n)` uses `n` and `d`.
 */
export function freeAliases(of: Predicate): ReadonlySet<Identifier> {
  const free = new Set<Identifier>();
  /** Aliases of the relations around the visited part, the innermost last. */
  const declared: Identifier[][] = [];
  walk(
    { predicates: [of] },
    {
      column({ alias }: ColumnExpression) {
        if (!declared.some(aliases => aliases.includes(alias))) free.add(alias);
      },
      enter({ alias, joins }) {
        declared.push([alias, ...joins.map(join => join.alias)]);
        return true;
      },
      leave: () => void declared.pop(),
    },
  );
  return free;
}
