import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inBuffers, keepTexts } from '../../src/ccda/texts.ts';

/** Well-formed, as markup is. */
const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(40))
      .map(([text, times]) => text.repeat(times * 1000)),
  ),
  { maxLength: 40 },
);

test('stored texts are read back unchanged, repeatedly and in any number', () => {
  fc.assert(
    fc.property(texts, all => {
      const kept = keepTexts();
      for (const text of all) kept.add(text);
      expect(kept.count).toBe(all.length);
      for (const _ of [1, 2]) expect([...kept].join('')).toBe(all.join(''));
    }),
  );
});

test('equal texts have equal digests, different texts different ones', () => {
  const digest = (...all: readonly string[]): string => {
    const kept = keepTexts();
    for (const text of all) kept.add(text);
    return kept.digest();
  };
  expect(digest('a', 'b')).toBe(digest('a', 'b'));
  expect(new Set([digest('a', 'b'), digest('ab'), digest('b', 'a'), digest('a'), digest()]).size).toBe(5);
});

test('a long text is read back block by block', () => {
  const kept = keepTexts();
  const entry = `<entry>${'<id root="1"/>'.repeat(100)}</entry>`;
  for (let i = 0; i < 20_000; i++) kept.add(entry);
  const pieces = [...kept].map(({ length }) => length);
  expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(20_000 * entry.length);
  expect(Math.max(...pieces)).toBeLessThan(300_000);
});

test('buffers hold the text in order, have a bounded size, and are made one by one', () => {
  let taken = 0;
  function* source(): Generator<string> {
    for (; taken < 100; taken++) yield `é${taken} `.repeat(10);
  }
  const buffers = inBuffers(source(), 200);
  const first = buffers.next().value;
  expect(taken).toBeLessThan(10);
  const others = [...buffers];
  const all = Buffer.concat([first ?? Buffer.alloc(0), ...others]);
  expect(all.toString()).toBe(Array.from({ length: 100 }, (_, i) => `é${i} `.repeat(10)).join(''));
  for (const { byteLength } of others) expect(byteLength).toBeLessThan(400);
});
