/** Rate limit of a client (REQUESTS_PER_MINUTE): which requests count as one client's, and the form of a refusal. */
import { expect, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { createMeters, perMinute } from '../../src/auth/meter.ts';
import type { Grant } from '../../src/auth/token.ts';
import { createEntry } from '../../src/http/middleware/bearer.ts';
import { appUnderTest, issuesOf } from './app-under-test.ts';

const GRANT: Grant = {
  ...{ subject: 'ada', client: 'app', issuer: 'https://issuer.example.org', scopes: ['patient/*.rs'] },
  ...{ patient: '1', expires: Number.POSITIVE_INFINITY },
};

const GRANTS: Readonly<Record<string, Grant>> = {
  ada: GRANT,
  'ada-again': GRANT,
  bea: { ...GRANT, subject: 'bea' },
  'ada-of-another-app': { ...GRANT, client: 'other' },
  'ada-of-another-issuer': { ...GRANT, issuer: 'https://other.example.org' },
};

function under(requests: number) {
  const state = { now: 0 };
  const tokens = { grantOf: async (token: string) => GRANTS[token] };
  const entry = createEntry(tokens, ({ client, patient = '' }) => accessToPatients(client, [patient]));
  const rate = createMeters(perMinute(requests), () => state.now);
  const { app, calls } = appUnderTest({}, { entry, rate });
  const ask = (token: string | undefined, path = '/fhir/Widget/1', init: RequestInit = {}) =>
    app.request(path, { ...init, headers: { ...init.headers, ...(token && { authorization: `Bearer ${token}` }) } });
  return { state, ask, calls };
}

test('beyond the limit a client gets 429 with an OperationOutcome until the time of Retry-After', async () => {
  const { state, ask, calls } = under(30);
  for (let i = 0; i < 30; i++) expect((await ask('ada')).status).toBe(200);
  const refused = await ask('ada', '/fhir/Widget?name=secret');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  const [issue] = await issuesOf(refused);
  expect(issue).toMatchObject({ code: 'throttled', details: { coding: [{ code: 'LNT-124' }] } });
  expect(JSON.stringify(issue)).not.toContain('secret');
  expect(calls).toHaveLength(30);
  state.now += 2000;
  expect((await ask('ada')).status).toBe(200);
  expect((await ask('ada')).status).toBe(429);
});

test('a client is an application for a person: other tokens count together, other people and apps apart', async () => {
  const { ask } = under(1);
  expect((await ask('ada')).status).toBe(200);
  expect((await ask('ada-again')).status).toBe(429);
  for (const other of ['bea', 'ada-of-another-app', 'ada-of-another-issuer'])
    expect((await ask(other)).status, other).toBe(200);
});

test('requests without a token count by address, and an invalid token is refused before the limit applies', async () => {
  const { ask } = under(2);
  for (const status of [200, 200, 429]) expect((await ask(undefined, '/fhir/metadata')).status).toBe(status);
  expect((await ask('ada')).status).toBe(200);
  expect((await ask('ada', '/fhir/metadata')).status).toBe(200);
  for (let i = 0; i < 3; i++) expect((await ask('forged')).status).toBe(401);
});

test('probes and the start page do not count', async () => {
  const { ask } = under(1);
  await ask(undefined, '/fhir/metadata');
  for (const path of ['/health', '/ready', '/', '/health']) expect((await ask(undefined, path)).status).toBe(200);
});

test('each request of a batch counts', async () => {
  const { ask } = under(3);
  const entry = Array.from({ length: 5 }, () => ({ request: { method: 'GET', url: 'Widget/1' } }));
  const answer = await ask('ada', '/fhir', {
    method: 'POST',
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
  });
  const bundle = (await answer.json()) as { entry: readonly { response: { status: string } }[] };
  expect(bundle.entry.map(({ response }) => Number.parseInt(response.status, 10))).toEqual([200, 200, 429, 429, 429]);
});
