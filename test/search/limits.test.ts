/** Limits of one request: number of parameters, length of a value, number of values in a list. */
import { expect, test } from 'vitest';
import { checkCount, checkLength, LIMITS } from '../../src/search/values.ts';

const refusal = (check: () => void): string => {
  try {
    check();
  } catch (error) {
    return String(error);
  }
  return 'none';
};

test('the maximum of parameters is accepted, one more is refused', () => {
  const parameters = Array.from({ length: LIMITS.parameters });
  expect(refusal(() => checkCount(parameters))).toBe('none');
  expect(refusal(() => checkCount([...parameters, 1]))).toContain('more than 100 parameters');
});

test.each([
  ['a value as long as is allowed', 'x'.repeat(LIMITS.valueLength), 'none'],
  ['one that is longer', 'x'.repeat(LIMITS.valueLength + 1), 'a value of code is longer than 4000 characters'],
  ['a long list of short values', 'x'.repeat(99).concat(',').repeat(400), 'none'],
  ['a list as long as is allowed', Array(LIMITS.values).fill('123456789').join(), 'none'],
  [
    'a list of one more',
    Array(LIMITS.values + 1)
      .fill('123456789')
      .join(),
    'more than 500 values',
  ],
  ['a list with one long value', `a,${'x'.repeat(LIMITS.valueLength)}`, 'none'],
  ['a list with one that is too long', `a,${'x'.repeat(LIMITS.valueLength + 1)}`, 'is longer than 4000 characters'],
  ['escaped commas, which separate nothing', 'x\\,'.repeat(1500), 'is longer than 4000 characters'],
])('%s', (_what, text, expected) => {
  expect(refusal(() => checkLength('code', text))).toContain(expected);
});
