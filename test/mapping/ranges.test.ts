import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rangePredicate, successor } from '../../src/mapping/ranges.ts';
import { INTEGER } from '../../src/sql/column-type.ts';
import { value } from '../../src/sql/construct.ts';
import type { Expression, Predicate } from '../../src/sql/expression.ts';
import type { RangeSet } from '../../src/time/range-set.ts';
import {
  atLeast,
  clip,
  complement,
  contains,
  EVERYTHING,
  intersect,
  NOTHING,
  overlay,
  rangeSet,
  union,
} from '../../src/time/range-set.ts';
import { table } from './codecs/law.ts';

const end = fc.oneof(
  fc.integer({ min: -6, max: 6 }),
  fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
);
const sets: fc.Arbitrary<RangeSet> = fc
  .array(fc.tuple(end, end), { maxLength: 5 })
  .map(ends => rangeSet(ends.map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }))));
const POINTS = Array.from({ length: 17 }, (_, i) => i - 8);

describe('ranges', () => {
  it('stay sorted, disjoint and not empty', () => {
    fc.assert(
      fc.property(sets, set => {
        for (const [i, range] of set.entries()) {
          expect(range.from).toBeLessThan(range.to);
          const next = set[i + 1];
          if (next) expect(range.to).toBeLessThan(next.from);
        }
      }),
    );
  });

  it('combine as sets do', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        for (const point of POINTS) {
          const [inA, inB] = [contains(a, point), contains(b, point)];
          expect(contains(union(a, b), point)).toBe(inA || inB);
          expect(contains(intersect(a, b), point)).toBe(inA && inB);
          expect(contains(complement(a), point)).toBe(!inA);
          expect(contains(clip(a, -5, 5), point) && point >= -5 && point < 5).toBe(inA && point >= -5 && point < 5);
        }
      }),
    );
    expect(intersect()).toEqual(EVERYTHING);
    expect(union()).toEqual(NOTHING);
  });

  it('let an overlay override its points', () => {
    const evens = {
      between: (from: number, to: number) => POINTS.filter(point => point % 2 === 0 && point >= from && point < to),
    };
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const within = (set: RangeSet): RangeSet => intersect(set, [{ from: -8, to: 8 }]);
        const set = overlay(within(a), [{ ...evens, accepted: within(b) }]);
        for (const point of POINTS.slice(0, -1))
          expect(contains(set, point)).toBe(contains(point % 2 === 0 ? b : a, point));
      }),
    );
    expect(() => overlay(EVERYTHING, [{ ...evens, accepted: NOTHING }])).toThrow(RangeError);
  });

  it('become predicates that select exactly their integers', () => {
    const rows = table('INT');
    rows.fill([...POINTS.map(point => [point]), [null]]);
    const [column] = rows.columns;
    if (!column) throw new Error('no column');
    const literal = (at: number): Expression => value(at, INTEGER);
    const present: Predicate = { kind: 'null', of: column, not: true };
    fc.assert(
      fc.property(sets, fc.constantFrom(successor, undefined), (set, next) => {
        const selected = rows.select(rangePredicate(set, { column, literal, next, present }));
        expect(selected.map(i => POINTS[i])).toEqual(POINTS.filter(point => contains(set, point)));
      }),
    );
  });

  it('become one comparison if they are one range', () => {
    const rows = table('INT');
    const [column] = rows.columns;
    if (!column) throw new Error('no column');
    const literal = (at: number): Expression => value(at, INTEGER);
    const present: Predicate = { kind: 'null', of: column, not: true };
    expect(rangePredicate(atLeast(3), { column, literal, next: successor, present })).toMatchObject({
      kind: 'compare',
      op: '>=',
    });
    expect(rangePredicate(EVERYTHING, { column, literal, next: successor, present })).toBe(present);
    expect(rangePredicate(NOTHING, { column, literal, next: successor, present })).toEqual({ kind: 'false' });
  });
});
