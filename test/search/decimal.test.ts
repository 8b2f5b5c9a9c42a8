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
    expect(writtenNumber(text)).toMatchObject({ value, low, high });
  });

  test.each([
    ['18.1', '16.29', '19.91'],
    ['6.4', '5.76', '7.04'],
    ['-3', '-3.3', '-2.7'],
    ['0', '0', '0'],
    ['1e2', '90', '110'],
    ['4611686018427387904', '4150517416584649113.6', '5072854620270126694.4'],
  ])('a tenth of %s is exact', (text, tenthBelow, tenthAbove) => {
    expect(writtenNumber(text)).toMatchObject({ tenthBelow, tenthAbove });
  });

  test.each(['', '.5', '5.', '1e', '0x10', 'NaN', '1,5', '١'])('%j is refused as a number', text => {
    expect(writtenNumber(text)).toBeUndefined();
  });
});
