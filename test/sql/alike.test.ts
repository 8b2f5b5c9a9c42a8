import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { withLists } from '../../src/sql/alike.ts';
import { UNICODE } from '../../src/sql/column-type.ts';
import { among, and, call, constant, equals, filled, not, or, value } from '../../src/sql/construct.ts';
import type { Expression, Predicate } from '../../src/sql/expression.ts';
import { predicateKey } from '../../src/sql/expression-key.ts';
import { runsOf } from '../share.ts';
import { expectedIds, idsOf } from './predicate-law.ts';
import { column, openSample, ROWS } from './sample.ts';

const CD = column('a', 'CD');
const TXT = column('a', 'TXT');
const asked = (text: string): Expression => value(text, UNICODE);
const own = (text: string): Expression => constant(text, UNICODE);

function starts(of: Expression, ...texts: readonly string[]): Predicate {
  return { kind: 'contains', of, where: 'start', texts, not: false };
}

/** Conditions of a list of values on one element: all of one shape, sometimes combined with another condition. */
const operand = fc.constantFrom(CD, TXT, call('upper', [TXT], UNICODE));
const text = fc.constantFrom('M', 'm', 'A', 'ab', '', '50%', 'é', 'a_b');
const comparison = fc.oneof(
  fc.tuple(operand, text).map(([of, one]) => equals(of, asked(one))),
  fc.tuple(operand, fc.array(text, { maxLength: 3 })).map(([of, all]) => among(of, all.map(asked))),
  fc.tuple(operand, text).map(([of, one]) => starts(of, one)),
  fc.tuple(operand, text).map(([of, one]) => equals(of, own(one))),
);
const part = fc.oneof(
  comparison,
  comparison.map(not),
  fc.tuple(operand, comparison).map(([of, one]) => and(filled(of), one)),
  fc.tuple(comparison, comparison).map(([one, other]) => and(one, other)),
);

it('merging comparisons into lists does not change a disjunction', async () => {
  const sample = openSample();
  onTestFinished(() => sample.remove());
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 9 }), async parts => {
      const expected = expectedIds(or(...parts), ROWS);
      const lists = withLists(or(...parts));
      expect(expectedIds(lists, ROWS)).toEqual(expected);
      expect((await sample.database.query(idsOf(lists))).map(row => row[0])).toEqual(expected);
    }),
    { numRuns: runsOf(800) },
  );
});

const keyOf = (predicate: Predicate): string => predicateKey(withLists(predicate));

it('comparisons that differ in values only are merged, also within conjunctions', () => {
  expect(keyOf(or(equals(CD, asked('a')), equals(TXT, asked('a')), equals(CD, asked('b'))))).toBe(
    predicateKey(or(among(CD, [asked('a'), asked('b')]), equals(TXT, asked('a')))),
  );
  expect(keyOf(or(among(CD, [asked('a'), asked('b')]), equals(CD, asked('c')), equals(CD, asked('b'))))).toBe(
    predicateKey(among(CD, ['a', 'b', 'c'].map(asked))),
  );
  expect(keyOf(or(...['a', 'b'].map(one => and(filled(TXT), starts(TXT, one)))))).toBe(
    predicateKey(and(filled(TXT), starts(TXT, 'a', 'b'))),
  );
});

it.each<[string, Predicate]>([
  ['differs in two values', or(...['a', 'b'].map(one => and(equals(CD, asked(one)), equals(TXT, asked(one)))))],
  ['is denied', or(...['a', 'b'].map(one => not(equals(CD, asked(one)))))],
  ['compares a value of the mapping', or(...['a', 'b'].map(one => equals(CD, own(one))))],
  ['is NULL', or(equals(CD, value(null, UNICODE)), equals(CD, asked('a')))],
  ['has other conditions beside it', or(and(filled(TXT), equals(CD, asked('a'))), equals(CD, asked('b')))],
])('a disjunction that %s is unchanged', (_, predicate) => {
  expect(keyOf(predicate)).toBe(predicateKey(predicate));
});
