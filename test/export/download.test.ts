/**
 * Files of exports over HTTP: whole, in ranges, compressed, or not at all. RFC 9110 sections 8.8.3, 13 and 14
 */
import { appendFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { clinic, ended, finished, kickOff, served, serverOfFile } from './exporting.ts';

const shared = serverOfFile();

test('a file is sent whole, compressed or in ranges, with its length', async () => {
  const { fhir } = await shared();
  const { output } = await finished(await kickOff(`${fhir}/$export?_type=Observation`));
  const url = output[0]?.url ?? '';
  const whole = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const text = await whole.text();
  expect(whole.headers.get('content-type')).toBe('application/fhir+ndjson');
  expect(whole.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  const zipped = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(await zipped.text()).toBe(text);
  const ranged = async (range: string) => {
    const response = await fetch(url, { headers: { range } });
    return { status: response.status, text: await response.text(), of: response.headers.get('content-range') };
  };
  expect(await ranged('bytes=10-19')).toEqual({
    status: 206,
    text: text.slice(10, 20),
    of: `bytes 10-19/${text.length}`,
  });
  expect((await ranged('bytes=-5')).text).toBe(text.slice(-5));
  expect((await ranged('bytes=100-')).text).toBe(text.slice(100));
  expect((await ranged(`bytes=${text.length}-`)).status).toBe(416);
  expect((await ranged('bytes=5-2')).status).toBe(200);
  const head = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
  expect([head.headers.get('content-length'), await head.text()]).toEqual([String(text.length), '']);
  // RFC 9110 section 14.2: ranges apply to GET only.
  const part = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity', range: 'bytes=0-9' } });
  expect([part.status, part.headers.get('content-length')]).toEqual([200, String(text.length)]);
});

test('a download ends at the recorded length, in any coding, although the file on disk is longer', async () => {
  const where = clinic();
  const { fhir } = await served(where);
  const { output } = await finished(await kickOff(`${fhir}/$export?_type=Observation`));
  const url = output[0]?.url ?? '';
  const textAs = async (coding: string) => (await fetch(url, { headers: { 'accept-encoding': coding } })).text();
  const text = await textAs('identity');
  const root = readConfig(where.environment).dataDir;
  const files = globSync('export/**/*.ndjson', { cwd: root });
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) appendFileSync(join(root, file), '{"resourceType":"Observation","id":"torn');
  expect(await textAs('identity')).toBe(text);
  expect(await textAs('gzip')).toBe(text);
});

/** URL of a file of Observations, and its text. */
async function exported() {
  const { fhir } = await shared();
  const poll = await kickOff(`${fhir}/$export?_type=Observation`);
  const url = (await finished(poll)).output[0]?.url ?? '';
  return { fhir, poll, url, text: await (await fetch(url)).text() };
}

const IDENTITY = { 'accept-encoding': 'identity' };
const GZIP = { 'accept-encoding': 'gzip' };

test('compressed and plain forms have different ETags, so that ranges of both are not mixed', async () => {
  const { url, text } = await exported();
  const tagOf = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    return response.headers.get('etag') ?? '';
  };
  const [plain, zipped] = [await tagOf(IDENTITY), await tagOf(GZIP)];
  expect(plain).not.toBe(zipped);
  const goOn = async (tag: string) => {
    const response = await fetch(url, { headers: { ...GZIP, range: 'bytes=10-19', 'if-range': tag } });
    return [response.status, await response.text()];
  };
  expect(await goOn(plain)).toEqual([206, text.slice(10, 20)]);
  // The complete file again.
  expect(await goOn(zipped)).toEqual([200, text]);
});

test('a client with the current file gets 304; a range beyond the end gets the length', async () => {
  const { url, text } = await exported();
  const tag = (await fetch(url, { method: 'HEAD', headers: IDENTITY })).headers.get('etag') ?? '';
  const again = await fetch(url, { headers: { ...IDENTITY, 'if-none-match': `"other", ${tag}` } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await fetch(url, { headers: { ...IDENTITY, 'if-none-match': '"other"' } })).status).toBe(200);
  const beyond = await fetch(url, { headers: { range: `bytes=${text.length}-` } });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${text.length}`]);
  expect(await beyond.json()).toMatchObject({ resourceType: 'OperationOutcome' });
});

test('HEAD describes the form that GET sends', async () => {
  const { url } = await exported();
  const head = await fetch(url, { method: 'HEAD', headers: GZIP });
  expect([head.headers.get('content-encoding'), head.headers.get('content-length')]).toEqual(['gzip', null]);
});

test('a manifest has the expiry of its files; a download URL without an id is 400', async () => {
  const { fhir, poll } = await exported();
  const response = await ended(poll);
  const expires = Date.parse(response.headers.get('expires') ?? '');
  const inMinutes = (expires - Date.now()) / 60_000;
  expect(inMinutes).toBeGreaterThan(1430);
  expect(inMinutes).toBeLessThanOrEqual(1440);
  expect((await fetch(`${fhir}/$download-resource`)).status).toBe(400);
});
