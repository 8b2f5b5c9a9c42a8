import { once } from 'node:events';
import { Agent, get, type IncomingHttpHeaders, type RequestOptions, ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AuditRecord } from '../../src/audit/record.ts';
import { accessToPatients } from '../../src/auth/access.ts';
import { createMeters } from '../../src/auth/meter.ts';
import type { Grant } from '../../src/auth/token.ts';
import { createAnswerCache } from '../../src/cache/answers.ts';
import { createWatermarks } from '../../src/cache/watermarks.ts';
import { readConfig } from '../../src/config/config.ts';
import type { RequestContext } from '../../src/facade.ts';
import type { AppParts } from '../../src/http/context.ts';
import type { Answer } from '../../src/http/middleware/answer.ts';
import { createEntry } from '../../src/http/middleware/bearer.ts';
import { answerHits } from '../../src/http/server/cache-hits.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLog } from '../../src/log.ts';
import { appUnderTest, type SmallFacade } from './app-under-test.ts';

const LIMITS = { bytes: 1_000_000, maxAge: 30_000, ttl: 5000, interval: 1000 };

type Guards = Pick<Partial<AppParts>, 'entry' | 'audit' | 'rate'>;

/** A listening server, and the number of requests that reached the application. With an entry, access is by token. */
async function served(
  environment: Record<string, string> = {},
  replace: Partial<SmallFacade> = {},
  guards: Guards = {},
) {
  const time = { now: 1_000_000 };
  const cache = createAnswerCache<Answer>(LIMITS, () => time.now);
  const watermarks = createWatermarks(new Map(), () => time.now);
  const answers = { cache, freshness: { watermarks, timed: new Set<string>() }, version: 'v1' };
  cache.serve(answers.freshness);
  const { app, calls } = appUnderTest(environment, {
    ...replace,
    answers,
    ...(guards.entry && { entry: guards.entry }),
    ...(guards.rate && { rate: guards.rate }),
  });
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  const config = { ...readConfig(environment), ...(guards.entry && { access: 'jwt' }) };
  const hits = answerHits({ answers, config, log, ...guards } as unknown as AppParts);
  const passed = { requests: 0 };
  const fetch: typeof app.fetch = (...request) => {
    passed.requests++;
    return app.fetch(...request);
  };
  const server = await listen({ fetch, hits }, { host: '127.0.0.1', port: 0, drain: 0 });
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);
  return {
    time,
    cache,
    calls,
    lines,
    passed,
    ask: (path: string, options?: RequestOptions) => ask(port, path, options),
  };
}

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function ask(port: number, path: string, options: RequestOptions = {}): Promise<Got> {
  const request = get({ host: '127.0.0.1', port, path, ...options });
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

const stripped = ({ headers, ...rest }: Got) => {
  const { 'x-request-id': _id, 'cache-status': _status, 'server-timing': _timing, date: _date, ...same } = headers;
  return { ...rest, headers: same };
};

const BIG = `{"resourceType":"Bundle","note":"${'Größe '.repeat(4000)}"}`;

test.each(['identity', 'gzip', 'br'])(
  'a cache hit bypasses the application and equals the first answer: %s',
  async coding => {
    for (const path of ['/fhir/Widget/1', '/fhir/Widget']) {
      const { ask, passed, calls } = await served({}, { search: async () => ({ json: BIG, entries: 0 }) });
      const headers = { accept: 'application/fhir+json', 'accept-encoding': coding };
      const first = await ask(path, { headers });
      const second = await ask(path, { headers });
      expect(stripped(second)).toEqual(stripped(first));
      expect(second.headers['cache-status']).toBe('Lintel; hit; ttl=30');
      expect(second.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
      expect(passed.requests).toBe(1);
      expect(calls.length).toBeLessThanOrEqual(1);
    }
  },
);

test.each([
  ['a validator', { 'if-none-match': '"x"' }],
  ['another validator', { 'if-modified-since': 'Sun, 10 Mar 2024 07:30:00 GMT' }],
  ['Cache-Control', { 'cache-control': 'no-cache' }],
  ['a preference', { prefer: 'handling=strict' }],
  ['an origin', { origin: 'https://app.example.org' }],
  ['credentials', { authorization: 'Bearer x' }],
  ['a cookie', { cookie: 'JSESSIONID=x' }],
  ['an id of the request', { 'x-request-id': '0123456789abcdef' }],
  ['a trace', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }],
  ['an unknown header', { 'x-unheard-of': '1' }],
  ['two headers of one name', { accept: ['application/json', 'application/xml'] }],
])('a request with %s reaches the application', async (_what, headers) => {
  const { ask, passed } = await served();
  await ask('/fhir/Widget/1');
  await ask('/fhir/Widget/1');
  expect(passed.requests).toBe(1);
  await ask('/fhir/Widget/1', { headers: headers as Record<string, string> });
  expect(passed.requests).toBe(2);
});

test('HEAD and POST reach the application', async () => {
  const { ask, passed } = await served();
  await ask('/fhir/Widget/1');
  await ask('/fhir/Widget/1', { method: 'HEAD' });
  expect(passed.requests).toBe(2);
});

test('a request with a stale or missing cache entry reaches the application', async () => {
  const { ask, passed, time } = await served();
  await ask('/fhir/Widget/1');
  time.now += LIMITS.maxAge;
  expect((await ask('/fhir/Widget/1')).headers['cache-status']).toBe('Lintel; fwd=stale; stored');
  expect((await ask('/fhir/Widget/2')).status).toBe(404);
  expect((await ask('/fhir/Widget/2')).status).toBe(404);
  expect(passed.requests).toBe(4);
});

test('a foreign Host gets no cached answer, with a fixed BASE_URL too', async () => {
  const { ask, passed } = await served({ BASE_URL: 'https://ehr.example.org' });
  for (let i = 0; i < 2; i++) expect((await ask('/fhir/Widget/1')).status).toBe(200);
  expect(passed.requests).toBe(1);
  expect((await ask('/fhir/Widget/1', { headers: { host: 'evil.example' } })).status).toBe(421);
  expect((await ask('/fhir/Widget/1', { headers: { host: 'ehr.example.org' } })).headers['cache-status']).toMatch(
    /hit/,
  );
});

test('cache hits are counted, and logged without their URL', async () => {
  const { ask, cache, lines } = await served();
  for (let i = 0; i < 3; i++) await ask('/fhir/Widget/1?_pretty=false');
  expect(cache.counters()).toMatchObject({ hits: 2, misses: 1 });
  await expect.poll(() => lines.length).toBe(2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    message: 'request',
    method: 'GET',
    route: '/fhir/Widget/:id',
    status: 200,
  });
  expect(lines.join()).not.toContain('_pretty');
});

const GRANT: Grant = {
  ...{ subject: 'ada', client: 'app', issuer: 'https://issuer.example.org', scopes: ['patient/*.rs'] },
  ...{ patient: '1', fhirUser: 'Patient/1', expires: 2_000_000 },
};

/** An entry with the grant of each token; `ends`: what the verifier reports of ended ones. */
function entryOf(grants: Record<string, Grant>) {
  const state = { now: 1_000_000, epoch: 0 };
  const tokens = { grantOf: async (token: string) => grants[token], epoch: () => state.epoch };
  const accessOf = ({ client, patient = '' }: Grant) => accessToPatients(client, [patient]);
  return { entry: createEntry(tokens, accessOf, () => state.now), state };
}

const by = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });

test('a known token gets cache hits that bypass the application, on a new connection too', async () => {
  const { entry } = entryOf({ good: GRANT, other: { ...GRANT, patient: '2' } });
  const { ask, passed, calls } = await served({}, {}, { entry });
  const first = await ask('/fhir/Widget/1', by('good'));
  const second = await ask('/fhir/Widget/1', by('good'));
  expect(stripped(second)).toEqual(stripped(first));
  expect(second.headers['cache-status']).toMatch(/hit/);
  expect(passed.requests).toBe(1);
  // A caller with other permissions gets a separate answer.
  for (let i = 0; i < 2; i++) expect((await ask('/fhir/Widget/1', by('other'))).status).toBe(200);
  expect(passed.requests).toBe(2);
  expect(calls.map(({ context }) => context.access)).toEqual([
    accessToPatients('app', ['1']),
    accessToPatients('app', ['2']),
  ]);
});

test('cached answers count for the limit of a client, long records as several; beyond it the client gets 429', async () => {
  const { entry } = entryOf({ good: GRANT, again: GRANT, other: { ...GRANT, subject: 'bea' } });
  const rate = createMeters({ burst: 10, perSecond: 1 }, () => 0);
  const written: AuditRecord[] = [];
  const audit = { write: async (one: AuditRecord) => void written.push(one) };
  const { ask, passed } = await served({}, {}, { entry, rate, audit });
  const long = `/fhir/Widget?name=${'x'.repeat(2000)}`;
  const statuses: (number | undefined)[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await ask(long, by('good'))).status);
  expect(statuses).toEqual([200, 200, 200, 200]);
  // Three of the four records have 2,000 characters each and count as ten; other tokens of the person share the count.
  const beyond = await ask(long, by('again'));
  expect([beyond.status, beyond.headers['retry-after']]).toEqual([429, '1']);
  expect(JSON.parse(beyond.body.toString())).toMatchObject({
    resourceType: 'OperationOutcome',
    issue: [{ code: 'throttled', details: { coding: [{ code: 'LNT-124' }] } }],
  });
  expect(passed.requests).toBe(2);
  expect(written.map(({ status, kept }) => [status, kept])).toEqual(Array(3).fill([200, true]));
  expect((await ask(long, by('other'))).status).toBe(200);
});

test('several tokens on one connection: each gets the data of its own caller', async () => {
  const { entry } = entryOf({ good: GRANT, other: { ...GRANT, patient: '2' } });
  const patientOf = ({ access }: RequestContext): string => JSON.stringify(access);
  const read: SmallFacade['read'] = async (type, id, _parameters, context) => ({ type, id, json: patientOf(context) });
  const { ask } = await served({}, { read }, { entry });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  for (const token of ['good', 'other', 'good', 'other', 'other', 'good', 'forged', 'good']) {
    const { status, body } = await ask('/fhir/Widget/1', { ...by(token), agent });
    if (token === 'forged') expect(status).toBe(401);
    else expect(body.toString()).toBe(JSON.stringify(accessToPatients('app', [token === 'good' ? '1' : '2'])));
  }
  expect((await ask('/fhir/Widget/1', { agent })).status).toBe(401);
});

test.each([
  ['was revoked', (state: { epoch: number }) => state.epoch++],
  [
    'has expired',
    (state: { now: number }) => {
      state.now = GRANT.expires;
    },
  ],
])('a token that %s gets no cached answer', async (_what, end) => {
  const grants: Record<string, Grant> = { good: GRANT };
  const { entry, state } = entryOf(grants);
  const { ask, passed } = await served({}, {}, { entry });
  for (let i = 0; i < 2; i++) expect((await ask('/fhir/Widget/1', by('good'))).status).toBe(200);
  expect(passed.requests).toBe(1);
  delete grants['good'];
  end(state);
  expect((await ask('/fhir/Widget/1', by('good'))).status).toBe(401);
});

test.each([
  ['no token', {}],
  ['an unknown token', by('bad')],
  ['another authentication scheme', { headers: { authorization: 'Basic good' } }],
])('with %s no cached answer is sent', async (_what, options) => {
  const { entry } = entryOf({ good: GRANT });
  const { ask } = await served({}, {}, { entry });
  for (let i = 0; i < 2; i++) await ask('/fhir/Widget/1', by('good'));
  const { status, body } = await ask('/fhir/Widget/1', options);
  expect(body.toString()).not.toContain('weight');
  expect(status).toBeGreaterThanOrEqual(400);
});

test('a cache hit is audited before it is sent', async () => {
  const { entry } = entryOf({ good: GRANT });
  const records: AuditRecord[] = [];
  const disk = { fails: false };
  const audit = {
    async write(record: AuditRecord) {
      if (disk.fails) throw new Error('disk');
      records.push(record);
    },
  };
  const { ask } = await served({}, {}, { entry, audit });
  for (let i = 0; i < 3; i++) await ask('/fhir/Widget/1', by('good'));
  const { issuer } = GRANT;
  expect(records).toMatchObject([
    { who: { client: 'app', subject: 'ada', issuer, user: 'Patient/1' }, status: 200, kept: true, interaction: 'read' },
    { resource: 'Widget/1', route: 'GET /fhir/Widget/:id' },
  ]);
  disk.fails = true;
  const refused = await ask('/fhir/Widget/1', by('good'));
  expect(refused.status).toBe(503);
  expect(refused.body.toString()).not.toContain('weight');
});

test('an audited cache hit that cannot be sent fails alone', async () => {
  const { entry } = entryOf({ good: GRANT });
  const { ask, lines } = await served({}, {}, { entry, audit: { write: async () => {} } });
  await ask('/fhir/Widget/1', by('good'));
  const spy = vi.spyOn(ServerResponse.prototype, 'writeHead').mockImplementationOnce(() => {
    throw new TypeError('no header holds this');
  });
  onTestFinished(() => spy.mockRestore());
  const failed = await ask('/fhir/Widget/1', by('good'));
  expect(failed.status).toBe(500);
  expect(failed.body.toString()).toContain('LNT-301');
  expect(lines.at(-1)).toContain('unexpected error');
  expect(lines.at(-1)).not.toContain('no header');
  expect((await ask('/fhir/Widget/1', by('good'))).status).toBe(200);
});

test('each audit record of cache hits on one connection has its own request, caller and address', async () => {
  // Two tokens of the same person, one with a purpose: the same answer, but different records.
  const { entry } = entryOf({ good: GRANT, urgent: { ...GRANT, purpose: 'ETREAT' } });
  const records: AuditRecord[] = [];
  const audit = { write: async (record: AuditRecord) => void records.push(record) };
  const { ask } = await served({}, {}, { entry, audit });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const asked = [
    'good /fhir/Widget/1',
    'urgent /fhir/Widget/1',
    'good /fhir/Widget?name=a',
    'urgent /fhir/Widget?name=a',
  ];
  const ids: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    records.length = 0;
    ids.length = 0;
    for (const one of asked) {
      const [token = '', path = ''] = one.split(' ');
      ids.push((await ask(path, { ...by(token), agent })).headers['x-request-id']);
    }
  }
  expect(records.map(({ who, query }) => `${who.purpose === undefined ? 'good' : 'urgent'} ${query.slice(4)}`)).toEqual(
    asked,
  );
  expect(records.map(({ resource }) => resource)).toEqual(['Widget/1', 'Widget/1', undefined, undefined]);
  expect(records.map(({ address, server }) => [address, server])).toEqual(asked.map(() => ['127.0.0.1', '127.0.0.1']));
  expect(records.map(({ request }) => request)).toEqual(ids);
  expect(new Set(ids).size).toBe(asked.length);
});
