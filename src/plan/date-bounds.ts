/**
 * Adds simple bounds to searches by date, so that an index serves them. A date of several forms or columns becomes
 * alternatives, and no engine sees that all of them bound the same columns. In: the condition. Out: the condition, with
 * the bounds of single columns that it implies. Only comparisons of a column with a value count, so the bounds are
 * weaker than the condition.
 */
import { and, conjuncts, or } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { expressionKey, predicateKey } from '../sql/expression-key.ts';
import { type Digits, isDigits, NO_DIGITS, withDigits } from '../sql/render-predicate.ts';
import { boundWithin } from './bounds.ts';

type Comparison = Predicate & { readonly kind: 'compare' };
type Bound = Comparison & {
  readonly left: ColumnExpression;
  readonly right: Expression & { readonly kind: 'value' };
};

/** Adds the implied bounds. Returns the same object if there are none besides those that it states itself. */
export function withColumnBounds(of: Predicate): Predicate {
  const bound = boundWithin(of, comparisonOf, NO_DIGITS, withDigits);
  if (bound === undefined) return of;
  const parts = conjuncts(of);
  const digits = withDigits(parts, NO_DIGITS);
  const said = new Set(parts.map(part => predicateKey(isBound(part) ? inOwnCollation(part, digits) : part)));
  const more = conjuncts(merged(bound)).filter(part => !said.has(predicateKey(part)));
  return more.length > 0 ? and(...more, of) : of;
}

/**
 * Returns the comparison of a column with a value. `digits`: the columns that surrounding conditions limit to digits,
 * which every collation sorts alike.
 */
function comparisonOf(part: Predicate, digits: Digits): Predicate | undefined {
  return isBound(part) ? inOwnCollation(part, digits) : undefined;
}

/**
 * Uses the column's own collation where all collations agree. They differ for `<=`: one that counts trailing blanks
 * sorts `2024 ` after `2024`, and the condition does not.
 */
function inOwnCollation(of: Bound, digits: Digits): Bound {
  return of.op !== '<=' && isDigits(of.right) && digits.has(expressionKey(of.left)) ? { ...of, native: true } : of;
}

function isBound(of: Predicate): of is Bound {
  if (of.kind !== 'compare' || of.not) return false;
  return of.left.kind === 'column' && of.right.kind === 'value' && /^[<>]/.test(of.op);
}

/**
 * Merges alternatives that bound a column on one side into the weakest bound: across all alternatives, or else across
 * those that consist of nothing else.
 */
function merged(of: Predicate): Predicate {
  if (of.kind === 'and') return and(...of.of.map(merged));
  if (of.kind !== 'or') return of;
  const parts = of.of.map(merged);
  const [first = [], ...others] = parts.map(conjuncts);
  const shared = first.filter(isBound).flatMap(bound => weakestIn(bound, others) ?? []);
  return shared.length > 0 ? and(...shared) : or(...parts.reduce<readonly Predicate[]>(withAlternative, []));
}

/** Returns the weakest of a bound and its counterparts in each list. */
function weakestIn(bound: Bound, lists: readonly (readonly Predicate[])[]): Bound | undefined {
  return lists.reduce<Bound | undefined>((weakest, list) => weakest && weakestOf(weakest, list), bound);
}

function withAlternative(known: readonly Predicate[], part: Predicate): readonly Predicate[] {
  if (!isBound(part)) return [...known, part];
  const at = known.findIndex(one => isBound(one) && weakestOf(one, [part]) !== undefined);
  const like = known[at];
  const weakest = like && isBound(like) ? weakestOf(like, [part]) : undefined;
  return weakest === undefined ? [...known, part] : known.with(at, weakest);
}

/**
 * Returns the weaker one of a bound and its counterpart in a list; undefined if the list has none to compare it with.
 */
function weakestOf(bound: Bound, list: readonly Predicate[]): Bound | undefined {
  const like = list.filter(isBound).filter(other => sideOf(other) === sideOf(bound));
  const [other] = like;
  const order = other && orderOf(bound.right, other.right);
  if (other === undefined || order === undefined) return undefined;
  if (order === 0) return bound.op.length > other.op.length ? bound : other;
  return order < 0 === bound.op.startsWith('>') ? bound : other;
}

/** Returns a text that is equal for bounds on the same side of one column. */
function sideOf({ left, op, native }: Bound): string {
  return `${left.alias}.${left.column} ${op.charAt(0)}${native ? '~' : ''}`;
}

/** Digits and punctuation of dates, which every collation sorts alike if the texts have the same length. */
const WRITTEN = /^[\d: .T-]+$/;

/** Compares two values: negative if the first is less. Undefined if only the database can tell. */
function orderOf(
  { value: one, placeholder }: Bound['right'],
  { value: other, placeholder: at }: Bound['right'],
): number | undefined {
  if (placeholder !== undefined || at !== undefined) return undefined;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one !== 'string' || typeof other !== 'string' || one.length !== other.length) return undefined;
  if (!WRITTEN.test(one) || !WRITTEN.test(other)) return undefined;
  return one === other ? 0 : one < other ? -1 : 1;
}
