import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cursor, cursorCodec, pageBefore, pagesBefore } from '../../src/search/cursor.ts';

const CODEC = cursorCodec(new Uint8Array(32).fill(7));
const CURSOR: Cursor = {
  group: 'vitals',
  branch: 3,
  key: [12, 'A|b', new Uint8Array([1, 255])],
  ordinal: 4,
  sort: [null, 5],
  now: 1,
};

test('a cursor is restored unchanged, including byte keys', () => {
  expect(CODEC.open(CODEC.seal(CURSOR, 'query'), 'query')).toEqual(CURSOR);
});

test('no two seals share a nonce, in one process or in several with one secret', () => {
  const nonceOf = (sealed: string) => Buffer.from(sealed, 'base64url').subarray(0, 12).toString('hex');
  const codecs = [CODEC, cursorCodec(new Uint8Array(32).fill(7))];
  const nonces = codecs.flatMap(codec => Array.from({ length: 500 }, () => nonceOf(codec.seal(CURSOR, 'query'))));
  expect(new Set(nonces).size).toBe(1000);
});

test('a cursor of another query, caller or secret does not open', () => {
  const sealed = CODEC.seal(CURSOR, 'query');
  expect(CODEC.open(sealed, 'another query')).toBeUndefined();
  expect(cursorCodec(new Uint8Array(32).fill(8)).open(sealed, 'query')).toBeUndefined();
});

test('unsealed text does not open', () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), text => CODEC.open(text, 'query') === undefined));
  const sealed = CODEC.seal(CURSOR, 'query');
  fc.assert(
    fc.property(fc.nat({ max: sealed.length - 1 }), fc.constantFrom('A', 'z', '-', '_'), (at, character) => {
      const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
      return changed === sealed || CODEC.open(changed, 'query') === undefined;
    }),
  );
});

test('pages link back to the first, over up to 20 pages', () => {
  const cursorOf = (branch: number, before: Cursor['before']): Cursor => ({ ...CURSOR, branch, before: before ?? [] });
  const after = (pages: number): Cursor | undefined => {
    let cursor: Cursor | undefined;
    for (let page = 1; page <= pages; page++) cursor = cursorOf(page, pagesBefore(cursor));
    return cursor;
  };
  const wayBack = (cursor: Cursor | undefined): readonly (number | 'first')[] => {
    const before = pageBefore(cursor);
    if (before === undefined) return [];
    return before === 'first' ? ['first'] : [before.branch, ...wayBack(before)];
  };
  expect(wayBack(undefined)).toEqual([]);
  expect(wayBack(after(1))).toEqual(['first']);
  expect(wayBack(after(4))).toEqual([3, 2, 1, 'first']);
  expect(wayBack(after(30)).length).toBeLessThanOrEqual(20);
  expect(wayBack(after(30)).slice(0, 3)).toEqual([29, 28, 27]);
});

test('a page with sort values too long for a link has no link back to it', () => {
  expect(pagesBefore({ ...CURSOR, sort: ['x'.repeat(2000)] })).toEqual([]);
});
