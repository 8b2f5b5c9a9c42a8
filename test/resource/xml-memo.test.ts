import { expect, it } from 'vitest';
import { XmlMemo } from '../../src/resource/xml-memo.ts';

/** Asks for values in turn; gives how many had to be made. */
function made(memo: XmlMemo, values: readonly string[]): number {
  let count = 0;
  for (const value of values) {
    const xml = memo.of(value, json => {
      count++;
      return `<${json}>`;
    });
    expect(xml).toBe(`<${value}>`);
  }
  return count;
}

const different = (count: number) => Array.from({ length: count }, (_, n) => String(n));

it('values that come again are made once, also when there are more than are kept', () => {
  const memo = new XmlMemo();
  const codes = different(150);
  expect(made(memo, [...codes, ...codes, ...codes])).toBe(150);
  expect(made(memo, [...codes, ...codes])).toBe(0);
  made(memo, different(250));
  expect(memo.isIdle).toBe(false);
});

it('a memo whose values seldom come again gives up, and keeps none that is long', () => {
  const memo = new XmlMemo();
  const long = 'x'.repeat(1000);
  expect(made(memo, [long, long])).toBe(2);
  made(memo, different(201));
  expect(memo.isIdle).toBe(true);
  expect(made(memo, ['0', '0'])).toBe(2);
});
