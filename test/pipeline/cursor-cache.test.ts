import { expect, test, vi } from 'vitest';
import { cursorCache } from '../../src/pipeline/cursor-cache.ts';
import { type Cursor, cursorCodec } from '../../src/search/cursor.ts';

const CURSOR: Cursor = { group: 'vitals', branch: 3, key: [12, new Uint8Array([1])], ordinal: 4, sort: [5], now: 1 };
const PLAIN = cursorCodec(new Uint8Array(32));

test('a cached cursor opens without decryption, an unknown one by the codec', () => {
  const open = vi.fn(PLAIN.open);
  const codec = cursorCache({ ...PLAIN, open });
  const sealed = codec.seal(CURSOR, 'query');
  expect(codec.open(sealed, 'query')).toEqual(CURSOR);
  expect(open).not.toHaveBeenCalled();
  expect(PLAIN.open(sealed, 'query')).toEqual(CURSOR);
  expect(codec.open(PLAIN.seal(CURSOR, 'query'), 'query')).toEqual(CURSOR);
  expect(open).toHaveBeenCalledOnce();
});

test('a cursor opens for its own query only, and not if it was changed', () => {
  const codec = cursorCache(PLAIN);
  const sealed = codec.seal(CURSOR, 'query');
  expect(codec.open(sealed, 'another query')).toBeUndefined();
  // One character in the middle: the last one may have bits that no byte uses.
  const at = Math.floor(sealed.length / 2);
  const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
  expect(codec.open(changed, 'query')).toBeUndefined();
});

test('a cursor still opens after thousands of others', () => {
  const codec = cursorCache(PLAIN);
  const sealed = codec.seal(CURSOR, 'query');
  for (let i = 0; i < 3000; i++) codec.seal({ ...CURSOR, now: i }, 'query');
  expect(codec.open(sealed, 'query')).toEqual(CURSOR);
});
