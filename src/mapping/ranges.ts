/**
 * Writes a set of integers as a predicate on an ordered column. In: the values that a date criterion accepts, and how
 * the column stores them. Out: ranges of the column, as one predicate.
 */
import { among, and, compare, FALSE, not, or, TRUE } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import type { Range, RangeSet } from '../time/range-set.ts';

/** How a column represents the integers of a set. */
export interface RangeColumn {
  readonly column: Expression;
  /** Returns an end of a range as the column stores it. */
  literal(at: number): Expression;
  /**
   * Returns the stored value after one, if each integer is at most one stored value. A range of a single value is then
   * tested by equality. Undefined if an integer stands for many values (a second of a DATETIME).
   */
  readonly next: ((at: number) => number) | undefined;
  /** Tests for a value; used for a range without ends. */
  readonly present: Predicate;
}

/**
 * Tests that the column lies in the set. One range stays one range. Several become the range around them without the
 * gaps, so that an index on the column is read from one place to another.
 */
export function rangePredicate(set: RangeSet, { column, literal, next, present }: RangeColumn): Predicate {
  const [first] = set;
  const last = set.at(-1);
  if (!first || !last) return FALSE;
  const within = ({ from, to }: Range): Predicate =>
    and(
      ...(Number.isFinite(from) ? [compare(column, '>=', literal(from))] : []),
      ...(Number.isFinite(to) ? [compare(column, '<', literal(to))] : []),
    );
  const around = within({ from: first.from, to: last.to });
  const hull = around.kind === 'true' ? present : around;
  const isPoint = (range: Range): boolean => isSingle(range, next);
  if (set.length === 1 && !isPoint(first)) return hull;
  const gaps = set.slice(1).map((range, i) => ({ from: set[i]?.to ?? range.from, to: range.from }));
  if (next) {
    const points = (ranges: readonly Range[]): Predicate =>
      among(
        column,
        ranges.map(range => literal(range.from)),
      );
    if (set.every(isPoint)) return points(set);
    if (gaps.every(isPoint)) return and(hull, not(points(gaps)));
    return and(hull, or(...set.filter(range => !isPoint(range)).map(within), points(set.filter(isPoint))));
  }
  return and(hull, or(...set.map(within)));
}

/**
 * Returns bounds of all valid values, except where the set has its own end: an engine may enter its index by the weaker
 * of two bounds. Undefined: the column holds nothing beyond.
 */
export function outerBounds(
  column: Expression,
  set: RangeSet,
  from: Expression | undefined,
  to: Expression | undefined,
): Predicate {
  return and(
    from && set[0]?.from === Number.NEGATIVE_INFINITY ? compare(column, '>=', from) : TRUE,
    to && set.at(-1)?.to === Number.POSITIVE_INFINITY ? compare(column, '<', to) : TRUE,
  );
}

/** True if each range is one stored value, so that the predicate is equality with some. */
export function areValues(set: RangeSet, next: RangeColumn['next']): boolean {
  return set.every(range => isSingle(range, next));
}

function isSingle({ from, to }: Range, next: RangeColumn['next']): boolean {
  return next !== undefined && next(from) >= to;
}

/** Returns the next integer: the `next` of columns whose integers are all stored values. */
export function successor(at: number): number {
  return at + 1;
}
