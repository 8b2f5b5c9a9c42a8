/**
 * Computes with sets of integers as sorted, disjoint, half-open ranges. In: ranges. Out: their union, intersection,
 * complement.
 */

/** `from` belongs to the range, `to` does not; either may be infinite. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Sorted, disjoint, not touching, none empty. */
export type RangeSet = readonly Range[];

export const EVERYTHING: RangeSet = [{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }];
export const NOTHING: RangeSet = [];

/** Returns the set that the ranges cover: sorted and merged. */
export function rangeSet(ranges: readonly Range[]): RangeSet {
  const sorted = ranges.filter(r => r.from < r.to).toSorted((a, b) => a.from - b.from || a.to - b.to);
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range.from <= last.to) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else merged.push(range);
  }
  return merged;
}

/** Returns all integers from `from` up. */
export function atLeast(from: number): RangeSet {
  return [{ from, to: Number.POSITIVE_INFINITY }];
}

export function union(...sets: readonly RangeSet[]): RangeSet {
  return rangeSet(sets.flat());
}

export function complement(set: RangeSet): RangeSet {
  const gaps: Range[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const range of set) {
    if (range.from > from) gaps.push({ from, to: range.from });
    from = range.to;
  }
  if (from < Number.POSITIVE_INFINITY) gaps.push({ from, to: Number.POSITIVE_INFINITY });
  return gaps;
}

export function intersect(...sets: readonly RangeSet[]): RangeSet {
  return complement(union(...sets.map(complement)));
}

export function contains(set: RangeSet, point: number): boolean {
  return set.some(range => range.from <= point && point < range.to);
}

/** Returns the image of a set under a monotone function, which is applied to the finite ends only. */
export function mapEnds(set: RangeSet, end: (at: number) => number): RangeSet {
  return rangeSet(
    set.map(({ from, to }) => ({
      from: Number.isFinite(from) ? end(from) : from,
      to: Number.isFinite(to) ? end(to) : to,
    })),
  );
}

/**
 * Points that count differently from the integers around them (a midnight that means "the whole day", a packed month).
 * `accepted` decides for each point in `between(from, to)`, ascending.
 */
export interface Overlay {
  readonly accepted: RangeSet;
  between(from: number, to: number): Iterable<number>;
}

/**
 * Returns the set `base`, except that each overlay decides at its points. Base and overlays must agree except in a few
 * places, because points are listed only where they differ. Throws a RangeError if they differ without end.
 */
export function overlay(base: RangeSet, overlays: readonly Overlay[]): RangeSet {
  const removed: Range[] = [];
  const added: Range[] = [];
  for (const { accepted, between } of overlays) {
    const list = (segments: RangeSet, into: Range[]): void => {
      for (const { from, to } of segments) {
        if (!Number.isFinite(from) || !Number.isFinite(to)) throw new RangeError('base and overlay differ without end');
        for (const point of between(from, to)) into.push({ from: point, to: point + 1 });
      }
    };
    list(intersect(base, complement(accepted)), removed);
    list(intersect(accepted, complement(base)), added);
  }
  // A point belongs to one overlay only, so what one removes no other adds.
  return union(intersect(base, complement(rangeSet(removed))), rangeSet(added));
}

/** Limits the set to [from, to). Ends at or beyond these become infinite, because nothing outside can be stored. */
export function clip(set: RangeSet, from: number, to: number): RangeSet {
  return intersect(set, [{ from, to }]).map(range => ({
    from: range.from <= from ? Number.NEGATIVE_INFINITY : range.from,
    to: range.to >= to ? Number.POSITIVE_INFINITY : range.to,
  }));
}
