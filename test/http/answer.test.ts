import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answerOf, answerWith } from '../../src/http/middleware/answer.ts';

const JSON_ANSWER = { format: 'json', pretty: false } as const;
const TEXT = `{"resourceType":"Basic","id":"ä€😀${'x'.repeat(9000)}"}`;

test('an answer is text until its bytes are read, then bytes, with the same length', () => {
  const answer = answerOf(TEXT, JSON_ANSWER);
  expect(answer.content).toBe(TEXT);
  expect(answer.byteLength).toBe(Buffer.byteLength(TEXT));
  const before = answer.bytes;
  expect(answer.body.toString('utf8')).toBe(TEXT);
  expect(answer.content).toBe(answer.body);
  expect([answer.byteLength, answer.bytes]).toEqual([answer.body.byteLength, before]);
});

test('a compressed form is made once, and then counts in the size of the answer', async () => {
  const answer = answerOf(TEXT, JSON_ANSWER);
  const before = answer.bytes;
  let grown = 0;
  expect(answer.made('gzip')).toBeUndefined();
  const [first, second] = await Promise.all([1, 2].map(() => answer.encoded('gzip', () => grown++)));
  expect(first).toBe(second);
  expect(answer.made('gzip')).toBe(first);
  expect(gunzipSync(first ?? '').toString('utf8')).toBe(TEXT);
  expect(grown).toBe(1);
  expect(answer.bytes).toBeGreaterThan(before);
});

test('bytes stay bytes', () => {
  const bytes = Buffer.from([0xff, 0, 1]);
  const answer = answerWith(bytes, 'image/png');
  expect([answer.content, answer.body, answer.byteLength]).toEqual([bytes, bytes, 3]);
});
