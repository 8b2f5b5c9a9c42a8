import { expect, test, vi } from 'vitest';
import { cursorCache } from '../../src/pipeline/cursor-cache.ts';
import { type Cursor, cursorCodec } from '../../src/search/cursor.ts';

const CURSOR: Cursor = { group: 'vitals', branch: 3, key: [12, new Uint8Array([1])], ordinal: 4, sort: [5], now: 1 };
const PLAIN = cursorCodec(new Uint8Array(32));

test('a link opens where it was sealed without the codec, and elsewhere with it', () => {
  const open = vi.fn(PLAIN.open);
  const codec = cursorCache({ ...PLAIN, open });
  const sealed = codec.seal(CURSOR, 'query');
  expect(codec.open(sealed, 'query')).toEqual(CURSOR);
  expect(open).not.toHaveBeenCalled();
  expect(PLAIN.open(sealed, 'query')).toEqual(CURSOR);
  expect(codec.open(PLAIN.seal(CURSOR, 'query'), 'query')).toEqual(CURSOR);
  expect(open).toHaveBeenCalledOnce();
});

test('a link opens for nothing but what it was sealed for, and a changed one not at all', () => {
  const codec = cursorCache(PLAIN);
  const sealed = codec.seal(CURSOR, 'query');
  expect(codec.open(sealed, 'another query')).toBeUndefined();
  expect(codec.open(`${sealed.slice(0, -2)}AA`, 'query')).toBeUndefined();
});

test('a link opens after thousands of others', () => {
  const codec = cursorCache(PLAIN);
  const sealed = codec.seal(CURSOR, 'query');
  for (let i = 0; i < 3000; i++) codec.seal({ ...CURSOR, now: i }, 'query');
  expect(codec.open(sealed, 'query')).toEqual(CURSOR);
});
