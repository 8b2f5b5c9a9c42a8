import { expect, it } from 'vitest';
import { toXml } from '../../src/resource/xml.ts';
import { XmlMemo } from '../../src/resource/xml-meaning.ts';
import { heapAfterCollection } from '../heap.ts';

/** Requests values in turn; returns how many had to be made. */
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

it('repeated values are written once, also when more than the cache holds', () => {
  const memo = new XmlMemo();
  const codes = different(150);
  expect(made(memo, [...codes, ...codes, ...codes])).toBe(150);
  expect(made(memo, [...codes, ...codes])).toBe(0);
  made(memo, different(250));
  expect(memo.isIdle).toBe(false);
});

it('a cache with rare hits is dropped, and has no long value', () => {
  const memo = new XmlMemo();
  const long = 'x'.repeat(1000);
  expect(made(memo, [long, long])).toBe(2);
  made(memo, different(201));
  expect(memo.isIdle).toBe(true);
  expect(made(memo, ['0', '0'])).toBe(2);
});

it('all caches together are bounded in characters, and cleared beyond', () => {
  const first = new XmlMemo();
  made(first, ['0']);
  const long = different(190).map(text => text.padStart(500, 'x'));
  for (let memo = 0; memo < 60; memo++) made(new XmlMemo(), long);
  expect(made(first, ['0', '0'])).toBe(1);
});

it('cached values do not retain their source texts', () => {
  const heap = heapAfterCollection();
  const before = heap();
  // About 400 kB each, with a code of its own, which is cached.
  for (let i = 0; i < 60; i++) toXml(observation(i, 'x'.repeat(400_000)));
  expect(heap() - before).toBeLessThan(8_000_000);
});

function observation(i: number, note: string): string {
  const code = {
    coding: [{ system: 'http://loinc.org', code: `code-${i}`, display: `A laboratory test, number ${i}` }],
  };
  return JSON.stringify({ resourceType: 'Observation', status: 'final', code, note: [{ text: note }] });
}
