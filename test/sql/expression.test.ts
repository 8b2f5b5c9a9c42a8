import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { and, exists, FALSE, not, or, TRUE } from '../../src/sql/construct.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { predicateKey } from '../../src/sql/expression-key.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { predicate } from './arbitrary.ts';
import { column } from './sample.ts';

describe('predicates', () => {
  it('equal their double complement', () => {
    fc.assert(
      fc.property(predicate, p => {
        expect(not(not(p))).toEqual(p);
      }),
    );
  });

  it('fold in conjunctions and disjunctions', () => {
    fc.assert(
      fc.property(predicate, p => {
        expect(and(p, TRUE, p)).toEqual(and(p));
        expect(or(p, FALSE, p)).toEqual(or(p));
        expect(and(p, FALSE)).toBe(FALSE);
        expect(or(p, TRUE)).toBe(TRUE);
      }),
    );
  });

  it('have different keys if only the row that a lookup picks differs', () => {
    const picking = (descending: boolean): Predicate =>
      exists({
        table: { name: identifier('A') },
        alias: identifier('a'),
        joins: [
          {
            kind: 'left',
            table: { name: identifier('B') },
            alias: identifier('b'),
            on: TRUE,
            pick: [{ by: column('b', 'SEQ'), descending }],
          },
        ],
        where: TRUE,
      });
    expect(predicateKey(picking(true))).not.toBe(predicateKey(picking(false)));
    expect(predicateKey(picking(true))).toBe(predicateKey(picking(true)));
  });
});
