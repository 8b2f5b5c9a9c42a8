import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { codingFor, encodeBody } from '../../src/http/middleware/compress.ts';

const LONG = Buffer.from('{"resourceType":"Bundle"}'.repeat(100));
const JSON_TYPE = 'application/fhir+json; charset=utf-8';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.6', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0, br;q=0, *', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['deflate', undefined],
  ['identity', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
] as const)('Accept-Encoding %j is answered with %j', (acceptEncoding, coding) => {
  expect(codingFor(LONG, JSON_TYPE, acceptEncoding)).toBe(coding);
});

test('long text is compressed; short text and compressed formats are not', () => {
  for (const type of [JSON_TYPE, 'application/fhir+xml', 'application/json', 'text/html', 'text/plain; charset=utf-8'])
    expect(codingFor(LONG, type, 'gzip'), type).toBe('gzip');
  for (const type of ['application/pdf', 'image/png', 'application/zip', 'application/octet-stream', ''])
    expect(codingFor(LONG, type, 'gzip'), type).toBeUndefined();
  expect(codingFor(LONG.subarray(0, 1023), JSON_TYPE, 'gzip')).toBeUndefined();
});

test('both codings decode to the same bytes', async () => {
  const gzip = await encodeBody(LONG, JSON_TYPE, 'gzip');
  expect(gzip.encoding).toEqual({ 'Content-Encoding': 'gzip' });
  expect(gunzipSync(gzip.body)).toEqual(LONG);
  const br = await encodeBody(LONG, JSON_TYPE, 'br');
  expect(br.encoding).toEqual({ 'Content-Encoding': 'br' });
  expect(brotliDecompressSync(br.body)).toEqual(LONG);
});
