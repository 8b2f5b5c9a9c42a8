import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { URL_LENGTH } from '../../src/http/middleware/limits.ts';
import { BODY_BYTES } from '../../src/http/server/intake.ts';
import { appUnderTest, issuesOf } from './app-under-test.ts';

const BIG = `{"resourceType":"Bundle","text":"${'abc '.repeat(2000)}"}`;
const big = { search: async () => ({ json: BIG, entries: 0 }) };

test('a URL beyond the limit is 414, and one at the limit is served', async () => {
  const { app } = appUnderTest();
  const base = 'http://localhost/fhir/Widget?name=';
  expect((await app.request(base + 'a'.repeat(URL_LENGTH - base.length))).status).toBe(200);
  const refused = await app.request(base + 'a'.repeat(URL_LENGTH - base.length + 1));
  expect(refused.status).toBe(414);
  expect((await issuesOf(refused))[0]?.code).toBe('too-long');
});

test('a body beyond the limit is 413, whether its length is declared or streamed', async () => {
  const { app, calls } = appUnderTest();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const text = `name=${'a'.repeat(BODY_BYTES)}`;
  const declared = { method: 'POST', body: text, headers: { ...form, 'content-length': String(text.length) } };
  const streamed = { method: 'POST', body: new Blob([text]).stream(), headers: form, duplex: 'half' } as const;
  for (const request of [declared, streamed]) {
    const response = await app.request('/fhir/Widget/_search', request);
    expect(response.status).toBe(413);
    expect((await issuesOf(response))[0]?.code).toBe('too-long');
  }
  expect(calls).toEqual([]);
});

test('with open access a foreign Host is refused, as protection from DNS rebinding', async () => {
  const { app, calls } = appUnderTest({ BASE_URL: 'https://ehr.example.org' });
  expect((await app.request('http://evil.example.com:3000/fhir/Widget')).status).toBe(421);
  expect((await app.request('http://127.0.0.1.evil.example.com/fhir/Widget')).status).toBe(421);
  expect(calls).toEqual([]);
  for (const own of ['http://127.0.0.1:3000', 'http://localhost', 'http://[::1]:3000', 'https://ehr.example.org']) {
    expect((await app.request(`${own}/fhir/Widget`)).status).toBe(200);
  }
});

test.each([
  ['a query that cannot be decoded', '/fhir/Widget?name=%ZZ', 'GET', 400],
  ['a query that is too long', `/fhir/Widget?name=${'x'.repeat(URL_LENGTH)}`, 'GET', 414],
  ['a foreign Host', 'http://evil.example.com/fhir/Widget', 'GET', 421],
  ['_pretty with another value', '/fhir/Widget?_pretty=maybe', 'GET', 400],
  ['a method that is not offered', '/fhir/Widget/1?name=%ZZ', 'DELETE', 405],
])('%s is refused in the format of the Accept header', async (_, url, method, status) => {
  const { app } = appUnderTest();
  const response = await app.request(url, { method, headers: { accept: 'application/fhir+xml' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    status,
    'application/fhir+xml; charset=utf-8',
  ]);
  expect(await response.text()).toContain('<OperationOutcome ');
});

test('long answers are compressed on request, short ones are not', async () => {
  const { app } = appUnderTest({}, big);
  const headers = { 'accept-encoding': 'gzip' };
  const long = await app.request('/fhir/Widget', { headers });
  expect(long.headers.get('content-encoding')).toBe('gzip');
  expect(Number(long.headers.get('content-length'))).toBeLessThan(BIG.length);
  expect(long.headers.get('vary')).toMatch(/Accept-Encoding/);
  expect(gunzipSync(Buffer.from(await long.arrayBuffer())).toString()).toBe(BIG);
  const short = await app.request('/fhir/Widget/1', { headers });
  expect(short.headers.get('content-encoding')).toBeNull();
  const plain = await app.request('/fhir/Widget');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(await plain.text()).toBe(BIG);
});

test('every answer has headers against caching, MIME sniffing and framing', async () => {
  const { app } = appUnderTest();
  for (const path of ['/fhir/Widget', '/fhir/Widget/1', '/fhir/Widget/2', '/nowhere', '/']) {
    const { headers } = await app.request(path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('vary')).toMatch(/\bAccept\b/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-request-id')).toMatch(/^[\w-]+$/);
  }
});

test('Strict-Transport-Security is sent only if configured', async () => {
  const strict = async (environment: Record<string, string>) =>
    (await appUnderTest(environment).app.request('/fhir/Widget')).headers.get('strict-transport-security');
  expect(await strict({})).toBe(null);
  expect(await strict({ BASE_URL: 'https://ehr.example.org' })).toBe(null);
  expect(await strict({ BASE_URL: 'https://ehr.example.org', HSTS: '86400' })).toBe('max-age=86400');
});

test('browser applications may call from the configured origins only', async () => {
  const { app } = appUnderTest({ CORS_ORIGINS: 'https://app.example.org' });
  const from = async (origin: string, method = 'GET') => app.request('/fhir/Widget', { method, headers: { origin } });
  expect((await from('https://app.example.org')).headers.get('access-control-allow-origin')).toBe(
    'https://app.example.org',
  );
  const exposed = (await from('https://app.example.org')).headers.get('access-control-expose-headers');
  expect(exposed?.toLowerCase().split(',')).toEqual(
    expect.arrayContaining([
      ...['cache-status', 'content-location', 'etag', 'last-modified', 'retry-after', 'server-timing'],
      ...['x-progress', 'x-request-id', 'x-correlation-id'],
    ]),
  );
  expect((await from('https://app.example.org.evil.com')).headers.has('access-control-allow-origin')).toBe(false);
  const preflight = await from('https://app.example.org', 'OPTIONS');
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,DELETE');
  const none = await appUnderTest().app.request('/fhir/Widget', { headers: { origin: 'https://app.example.org' } });
  expect(none.headers.has('access-control-allow-origin')).toBe(false);
});

test('a log line has method, pattern, status and duration, and no value of the request', async () => {
  const { app, lines } = appUnderTest();
  const canary = 'Kowalski';
  const requests: [string, RequestInit?][] = [
    [`/fhir/Widget?name=${canary}`],
    [`/fhir/Widget/${canary}`],
    [`/fhir/${canary}`],
    [`/fhir/${canary}/${canary}/${canary}`],
    [`/${canary}`],
    [`/fhir/Widget?name=%zz${canary}`],
    [`/fhir/Widget/_search?${canary}`, { method: 'POST', body: canary, headers: { 'content-type': canary } }],
    ['/fhir/Widget', { headers: { prefer: canary, accept: canary, 'x-request-id': `<${canary}>`, host: canary } }],
    ['/fhir/Widget', { method: 'PROPFIND' }],
  ];
  for (const [path, request] of requests) await app.request(path, request);
  expect(lines).toHaveLength(requests.length);
  expect(lines.join('\n')).not.toContain(canary);
  const [search, read] = lines.map(line => JSON.parse(line));
  expect(search).toMatchObject({ message: 'request', method: 'GET', route: '/fhir/Widget', status: 200 });
  expect(read).toMatchObject({ route: '/fhir/Widget/:id', status: 404 });
  expect(search.ms).toBeTypeOf('number');
});

test('an unknown URL outside of the FHIR interface is 404 and names the FHIR base', async () => {
  const response = await appUnderTest().app.request('/nowhere');
  expect(response.status).toBe(404);
  expect((await issuesOf(response))[0]?.diagnostics).toContain('/fhir');
});
