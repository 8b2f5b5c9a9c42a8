import { expect, test } from 'vitest';
import { boundedCache, getOrInsert, memoized, weighedCache } from '../src/common/caches.ts';

test('equal keys share one value, and the least recently used entry is evicted', () => {
  const cache = boundedCache<{ key: string }>(2);
  const made: string[] = [];
  const get = (key: string) =>
    cache.get(key, () => {
      made.push(key);
      return { key };
    });
  expect(get('a')).toBe(get('a'));
  get('b');
  get('a');
  get('c');
  get('a');
  get('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});

test('bytes are bounded; an oversized value is not cached and evicts nothing', () => {
  const evicted = { times: 0 };
  const cache = weighedCache<{ n: number }>(100_000, () => evicted.times++);
  expect(cache.keep('large', { n: 0 }, 20_000)).toBe(false);
  for (let n = 1; n <= 30; n++) expect(cache.keep(`key ${n}`, { n }, 5000)).toBe(true);
  const { entries, bytes } = cache.size();
  expect(bytes).toBeLessThanOrEqual(100_000);
  expect(entries).toBe(30 - evicted.times);
  expect(cache.find('key 30')).toEqual({ n: 30 });
  expect(cache.find('key 1')).toBeUndefined();
});

test('a value that grows beyond the limit is removed', () => {
  const cache = weighedCache<{ n: number }>(100_000, () => {});
  cache.keep('a', { n: 1 }, 100);
  expect(cache.keep('a', { n: 1 }, 50_000)).toBe(false);
  expect(cache.peek('a')).toBeUndefined();
  expect(cache.size()).toEqual({ entries: 0, bytes: 0 });
});

test('a memoized function computes once per argument, also if the result is false', () => {
  const asked: string[] = [];
  const isLong = memoized(({ name }: { readonly name: string }) => {
    asked.push(name);
    return name.length > 3;
  });
  const [short, long] = [{ name: 'abc' }, { name: 'abcd' }];
  expect([short, long, short, long].map(isLong)).toEqual([false, true, false, true]);
  expect(asked).toEqual(['abc', 'abcd']);
});

test('a missing value is made and stored once', () => {
  const lists = new Map<string, string[]>();
  for (const word of ['ab', 'ba', 'ac']) getOrInsert(lists, word.charAt(0), () => []).push(word);
  expect(Object.fromEntries(lists)).toEqual({ a: ['ab', 'ac'], b: ['ba'] });
});
