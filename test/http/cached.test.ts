import { once } from 'node:events';
import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { type AnswerLimits, createAnswerCache } from '../../src/cache/answers.ts';
import { createWatermarks } from '../../src/cache/watermarks.ts';
import type { RequestContext } from '../../src/facade.ts';
import type { Answer } from '../../src/http/middleware/answer.ts';
import { listen } from '../../src/http/server/server.ts';
import { FhirError } from '../../src/outcome.ts';
import { appUnderTest, type SmallFacade, WIDGET } from './app-under-test.ts';

const LIMITS: AnswerLimits = { bytes: 1_000_000, maxAge: 30_000, ttl: 5000, interval: 1000 };

/** An application with a cache and a stopped clock; no table has a watermark, and no answer reads a table. */
function cachedApp(replace: Partial<SmallFacade> = {}, environment: Record<string, string> = {}, limits = LIMITS) {
  const time = { now: 1_000_000 };
  const cache = createAnswerCache<Answer>(limits, () => time.now);
  const watermarks = createWatermarks(new Map(), () => time.now);
  const answers = { cache, freshness: { watermarks, timed: new Set<string>() }, version: 'v1' };
  cache.serve(answers.freshness);
  return { ...appUnderTest(environment, { ...replace, answers }), cache, time };
}

const statusOf = (response: Response) => response.headers.get('cache-status');

const BIG = `{"resourceType":"Bundle","note":"${'Lorem ipsum '.repeat(500)}"}`;

test('Cache-Status reports misses, hits with their lifetime, and stale answers', async () => {
  const { app, calls, time } = cachedApp();
  expect(statusOf(await app.request('/fhir/Widget/1'))).toBe('Lintel; fwd=miss; stored');
  time.now += 10_500;
  const hit = await app.request('/fhir/Widget/1');
  expect(statusOf(hit)).toBe('Lintel; hit; ttl=19');
  expect(await hit.text()).toBe(WIDGET);
  expect(calls).toHaveLength(1);
  time.now += 20_000;
  expect(statusOf(await app.request('/fhir/Widget/1'))).toBe('Lintel; fwd=stale; stored');
  expect(calls).toHaveLength(2);
});

test('no intermediary may cache an answer, whether cached here or not', async () => {
  const { app } = cachedApp();
  for (let i = 0; i < 2; i++)
    expect((await app.request('/fhir/Widget/1')).headers.get('cache-control')).toBe('no-store');
});

test('a cache hit has all headers of the first answer, except its request id', async () => {
  const { app } = cachedApp();
  const headersOf = async () => {
    const { headers } = await app.request('/fhir/Widget/1');
    return [...headers].filter(([name]) => !['x-request-id', 'cache-status', 'server-timing'].includes(name));
  };
  expect(await headersOf()).toEqual(await headersOf());
});

test.each([
  ['another address', '/fhir/Widget/1?_summary=false', {}],
  ['another representation', '/fhir/Widget/1', { accept: 'application/fhir+xml' }],
  ['another base', 'http://127.0.0.1:1234/fhir/Widget/1', {}],
  ['another handling', '/fhir/Widget/1', { prefer: 'handling=strict' }],
])('%s has a cache entry of its own', async (_what, address, headers) => {
  const { app, calls } = cachedApp({ read: async (type, id) => ({ type, id, json: '{"resourceType":"Basic"}' }) });
  await app.request('/fhir/Widget/1');
  expect(statusOf(await app.request(address, { headers }))).toBe('Lintel; fwd=miss; stored');
  expect(calls).toEqual([]);
});

test('HEAD and conditional reads use the cached answer of GET', async () => {
  const { app, calls } = cachedApp();
  const { headers } = await app.request('/fhir/Widget/1');
  const head = await app.request('/fhir/Widget/1', { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(headers.get('content-length'));
  expect(await head.text()).toBe('');
  const match = await app.request('/fhir/Widget/1', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  expect(match.status).toBe(304);
  const since = { 'if-modified-since': headers.get('last-modified') ?? '' };
  expect((await app.request('/fhir/Widget/1', { headers: since })).status).toBe(304);
  expect([statusOf(head), statusOf(match)]).toEqual(['Lintel; hit; ttl=30', 'Lintel; hit; ttl=30']);
  expect(calls).toHaveLength(1);
});

test.each([
  [{ 'cache-control': 'no-cache' }, 'Lintel; fwd=request; stored'],
  [{ 'cache-control': 'max-age=0' }, 'Lintel; fwd=request; stored'],
  [{ pragma: 'no-cache' }, 'Lintel; fwd=request; stored'],
  [{ 'cache-control': 'max-age=1' }, 'Lintel; fwd=request; stored'],
  [{ 'cache-control': 'max-age=2' }, 'Lintel; hit; ttl=28'],
  [{ 'cache-control': 'no-store' }, 'Lintel; fwd=request'],
  [{ 'cache-control': 'max-stale=5' }, 'Lintel; hit; ttl=28'],
])('%j is answered with %s after two seconds', async (headers, status) => {
  const { app, time } = cachedApp();
  await app.request('/fhir/Widget/1');
  time.now += 2000;
  expect(statusOf(await app.request('/fhir/Widget/1', { headers }))).toBe(status);
});

test('an answer to no-cache is cached for others, an answer to no-store is not', async () => {
  let version = 0;
  const { app } = cachedApp({ read: async (type, id) => ({ type, id, json: `{"version":${++version}}` }) });
  const ask = async (headers = {}) => (await (await app.request('/fhir/Widget/1', { headers })).json()) as object;
  expect(await ask()).toEqual({ version: 1 });
  expect(await ask({ 'cache-control': 'no-cache' })).toEqual({ version: 2 });
  expect(await ask()).toEqual({ version: 2 });
  expect(await ask({ 'cache-control': 'no-store' })).toEqual({ version: 3 });
  expect(await ask()).toEqual({ version: 2 });
});

test('POST is never cached, and Cache-Status says so', async () => {
  const { app, calls } = cachedApp();
  for (let i = 0; i < 2; i++) {
    const response = await app.request('/fhir/Widget/_search', { method: 'POST' });
    expect(statusOf(response)).toBe('Lintel; fwd=method');
  }
  expect(calls).toHaveLength(2);
});

test('errors are not cached', async () => {
  let fails = true;
  const { app } = cachedApp({
    async read(type, id) {
      if (fails) throw new FhirError('database-away', 'away');
      return { type, id, json: WIDGET };
    },
  });
  expect((await app.request('/fhir/Widget/1')).status).toBe(503);
  expect((await app.request('/fhir/Widget/1')).status).toBe(503);
  fails = false;
  expect((await app.request('/fhir/Widget/1')).status).toBe(200);
});

test('each compressed form is made once, on first request, and counts in the cache size', async () => {
  const { app, cache } = cachedApp({ search: async () => ({ json: BIG, entries: 0 }) });
  const ask = async (coding: string) => {
    const response = await app.request('/fhir/Widget', { headers: { 'accept-encoding': coding } });
    expect(response.headers.get('content-encoding')).toBe(coding);
    return Buffer.from(await response.arrayBuffer());
  };
  await app.request('/fhir/Widget');
  const plain = cache.counters().bytes;
  const gzip = await ask('gzip');
  expect(gunzipSync(gzip).toString()).toBe(BIG);
  // Small answers are cached as text too.
  expect(cache.counters().bytes).toBe(plain + 2 * gzip.byteLength);
  expect(await ask('gzip')).toEqual(gzip);
  const [one, two] = await Promise.all([ask('br'), ask('br')]);
  expect(brotliDecompressSync(one).toString()).toBe(BIG);
  expect(two).toEqual(one);
  expect(cache.counters()).toMatchObject({ bytes: plain + 2 * (gzip.byteLength + one.byteLength), entries: 1 });
});

test('the cache size is bounded, and an answer that is too large is sent uncached', async () => {
  const limits = { ...LIMITS, bytes: 100_000 };
  const { app, cache } = cachedApp(
    { read: async (type, id) => ({ type, id, json: `"${'x'.repeat(id === '0' ? 20_000 : 4000)}"` }) },
    {},
    limits,
  );
  expect(statusOf(await app.request('/fhir/Widget/0'))).toBe('Lintel; fwd=miss');
  expect(cache.counters()).toMatchObject({ entries: 0, tooLarge: 1 });
  for (let id = 1; id <= 40; id++) await app.request(`/fhir/Widget/${id}`);
  const { bytes, entries, evicted } = cache.counters();
  expect(bytes).toBeLessThanOrEqual(limits.bytes);
  expect(bytes).toBeGreaterThan(limits.bytes / 2);
  expect(evicted).toBe(40 - entries);
  expect(statusOf(await app.request('/fhir/Widget/40'))).toMatch(/hit/);
  expect(statusOf(await app.request('/fhir/Widget/1'))).toMatch(/miss/);
});

/** A facade whose searches wait until they are released. */
function slow() {
  const running: { readonly context: RequestContext; readonly finish: () => void }[] = [];
  const search: SmallFacade['search'] = (_request, context) =>
    new Promise((resolve, reject) => {
      context.signal?.addEventListener('abort', () => reject(new Error('cancelled')));
      running.push({ context, finish: () => resolve({ json: BIG, entries: 0 }) });
    });
  return { search, running };
}

test('equal simultaneous requests share one search, and Cache-Status says so', async () => {
  const { search, running } = slow();
  const { app } = cachedApp({ search });
  const asked = [1, 2, 3].map(() => app.request('/fhir/Widget?name=a'));
  const other = app.request('/fhir/Widget?name=b');
  await until(() => running.length === 2);
  for (const { finish } of running) finish();
  const answers = await Promise.all([...asked, other]);
  expect(running).toHaveLength(2);
  expect(answers.map(statusOf)).toEqual([
    'Lintel; fwd=miss; stored',
    'Lintel; fwd=miss; stored; collapsed',
    'Lintel; fwd=miss; stored; collapsed',
    'Lintel; fwd=miss; stored',
  ]);
});

test('a client that disconnects cancels the search only if no other waits for it', async () => {
  const { search, running } = slow();
  const { app } = cachedApp({ search });
  const server = await listen(app, { host: '127.0.0.1', port: 0, drain: 0 });
  onTestFinished(() => server.close());
  const client = () => {
    const request = get(`${server.url}/fhir/Widget?name=a`);
    request.on('error', () => {});
    return request;
  };
  const [first, second] = [client(), client()];
  await until(() => running.length === 1);
  await settle();
  first.destroy();
  await settle();
  expect(running[0]?.context.signal?.aborted).toBe(false);
  running[0]?.finish();
  const [response] = await once(second, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();

  const [third, fourth] = ['b', 'b'].map(name => {
    const request = get(`${server.url}/fhir/Widget?name=${name}`);
    request.on('error', () => {});
    return request;
  });
  await until(() => running.length === 2);
  await settle();
  third?.destroy();
  fourth?.destroy();
  await until(() => running[1]?.context.signal?.aborted === true);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await settle();
}

function settle(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 20));
}
