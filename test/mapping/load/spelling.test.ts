import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearest } from '../../../src/mapping/load/read/spelling.ts';

describe('the nearest spelling', () => {
  test.each([
    ['gendr', ['gender', 'genre', 'address'], 'gender'],
    ['GENDER', ['gender'], 'gender'],
    ['recieved', ['received', 'recorded'], 'received'],
    ['zon', ['on', 'zone'], 'zone'],
    ['xyz', ['gender', 'name'], undefined],
    ['a', ['b'], 'b'],
    ['', ['gender'], undefined],
  ])('of %s among %j is %s', (name, known, expected) => {
    expect(nearest(name, known)).toBe(expected);
  });

  test('is symmetric, with distance zero only between equal texts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});
