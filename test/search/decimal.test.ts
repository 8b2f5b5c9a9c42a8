import { describe, expect, test } from 'vitest';
import { writtenNumber } from '../../src/search/types/number.ts';

describe('a number value covers half a unit of its last digit on both sides', () => {
  test.each([
    ['100', '100', '99.5', '100.5'],
    ['100.00', '100', '99.995', '100.005'],
    ['1e2', '100', '50', '150'],
    ['1.0e2', '100', '95', '105'],
    ['5.40', '5.4', '5.395', '5.405'],
    ['0.1', '0.1', '0.05', '0.15'],
    ['-3', '-3', '-3.5', '-2.5'],
    ['0', '0', '-0.5', '0.5'],
    ['12345678901234567890.5', '12345678901234567890.5', '12345678901234567890.45', '12345678901234567890.55'],
  ])('%s', (text, value, low, high) => {
    expect(writtenNumber(text)).toEqual({ value, low, high });
  });

  test.each(['', '.5', '5.', '1e', '0x10', 'NaN', '1,5', '١'])('%j is refused as a number', text => {
    expect(writtenNumber(text)).toBeUndefined();
  });
});
