import { expect, test } from 'vitest';
import { type Access, accessToPatients, NO_ACCESS } from '../../src/auth/access.ts';
import type { Grant, Tokens } from '../../src/auth/token.ts';
import { createEntry, tokenOf } from '../../src/http/middleware/bearer.ts';
import { FhirError } from '../../src/outcome.ts';
import { appUnderTest, issuesOf, WIDGET } from './app-under-test.ts';

const GRANT: Grant = {
  subject: 'somebody',
  client: 'app',
  issuer: 'https://issuer.example.org',
  scopes: ['patient/*.rs'],
  patient: '1',
  expires: 2_000_000,
};

function entryUnderTest(grants: Readonly<Record<string, Grant>>) {
  const state = { now: 1_000_000, steady: 0, epoch: 0, asked: 0 };
  const tokens: Tokens = {
    async grantOf(token) {
      state.asked++;
      return grants[token];
    },
    epoch: () => state.epoch,
  };
  const accessOf = ({ client, patient = '' }: Grant): Access => accessToPatients(client, [patient]);
  const entry = createEntry(
    tokens,
    accessOf,
    () => state.now,
    () => state.steady,
  );
  return { entry, state };
}

const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('without a token no patient data is sent, and the answer has WWW-Authenticate', async () => {
  const { entry } = entryUnderTest({ good: GRANT });
  const { app, calls } = appUnderTest({}, { entry });
  for (const path of ['/fhir/Widget/1', '/fhir/Widget?name=x', '/fhir?_type=Widget', '/fhir/Nothing', '/fhir']) {
    const response = await app.request(path);
    expect(response.status, path).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="fhir"');
    expect((await issuesOf(response))[0]?.code).toBe('login');
  }
  const batch = { method: 'POST', body: '{}', headers: { 'content-type': 'application/fhir+json' } };
  expect((await app.request('/fhir', batch)).status).toBe(401);
  expect(calls).toEqual([]);
});

test('an invalid token is refused as invalid, in any place that it is sent', async () => {
  const { entry } = entryUnderTest({ good: GRANT });
  const { app, calls } = appUnderTest({}, { entry });
  const headers = ['Bearer bad', 'Bearer', 'Bearer good good', 'Basic good', 'good', `Bearer ${'x'.repeat(20_000)}`];
  for (const authorization of headers) {
    const response = await app.request('/fhir/Widget/1', { headers: { authorization } });
    expect(response.status, authorization.slice(0, 30)).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="fhir", error="invalid_token"');
  }
  expect((await app.request('/fhir/Widget/1?access_token=good')).status).toBe(401);
  expect(calls).toEqual([]);
});

test('a valid token gives the facade the access of its caller', async () => {
  const { entry } = entryUnderTest({ good: GRANT });
  const { app, calls } = appUnderTest({}, { entry });
  const response = await app.request('/fhir/Widget/1', withToken('good'));
  expect(await response.text()).toBe(WIDGET);
  expect(calls[0]?.context.access).toEqual(accessToPatients('app', ['1']));
});

test('the capabilities are public', async () => {
  const { entry } = entryUnderTest({});
  const { app } = appUnderTest({}, { entry });
  for (const path of ['/fhir/metadata', '/health', '/ready']) expect((await app.request(path)).status, path).toBe(200);
});

test('public pages are served during an outage of token verification, with and without a token', async () => {
  const entry = {
    known: () => undefined,
    toExport: () => NO_ACCESS,
    decide: () => Promise.reject(new FhirError('issuer-away', 'away', { retryAfter: 5 })),
  };
  const { app } = appUnderTest({}, { entry });
  for (const init of [{}, withToken('good')]) expect((await app.request('/fhir/metadata', init)).status).toBe(200);
  const read = await app.request('/fhir/Widget/1', withToken('good'));
  expect([read.status, read.headers.get('retry-after')]).toEqual([503, '5']);
});

test('requests of a batch have the rights of the batch', async () => {
  const { entry } = entryUnderTest({ good: GRANT });
  const { app, calls } = appUnderTest({}, { entry });
  const body = JSON.stringify({
    resourceType: 'Bundle',
    type: 'batch',
    entry: [{ request: { method: 'GET', url: 'Widget/1' } }],
  });
  const headers = { ...withToken('good').headers, 'content-type': 'application/fhir+json' };
  expect((await app.request('/fhir', { method: 'POST', body, headers })).status).toBe(200);
  expect(calls[0]?.context.access.caller).toBe('app');
});

test('a verified token is cached until it expires or may have been revoked', async () => {
  const grants: Record<string, Grant> = { good: GRANT };
  const { entry, state } = entryUnderTest(grants);
  for (let i = 0; i < 3; i++) expect(await entry.decide('good')).toBeDefined();
  expect(state.asked).toBe(1);
  expect(entry.known('good')).toBeDefined();
  delete grants['good'];
  state.epoch++;
  expect(entry.known('good')).toBeUndefined();
  expect(await entry.decide('good')).toBeUndefined();
  grants['good'] = GRANT;
  expect(await entry.decide('good')).toBeDefined();
  state.now = GRANT.expires;
  expect(entry.known('good')).toBeUndefined();
  expect(await entry.decide('good')).toBeUndefined();
});

test('a clock that is set back does not prolong a cached decision', async () => {
  const { entry, state } = entryUnderTest({ good: GRANT });
  const lasts = GRANT.expires - state.now;
  expect(await entry.decide('good')).toBeDefined();
  state.now -= 1_000_000;
  state.steady += lasts - 1;
  expect(entry.known('good')).toBeDefined();
  state.steady++;
  expect(entry.known('good')).toBeUndefined();
  expect(await entry.decide('good')).toBeDefined();
  expect(state.asked).toBe(2);
});

test('a token that is revoked during its verification is not cached', async () => {
  const state = { epoch: 0 };
  const tokens: Tokens = {
    async grantOf() {
      state.epoch++;
      return GRANT;
    },
    epoch: () => state.epoch,
  };
  const access = accessToPatients('app', []);
  const entry = createEntry(
    tokens,
    () => access,
    () => 0,
  );
  await entry.decide('good');
  expect(entry.known('good')).toBeUndefined();
});

test('only a bearer token of the form of RFC 6750 is read from the header', () => {
  expect(tokenOf('Bearer abc.DEF-_~+/==')).toBe('abc.DEF-_~+/==');
  expect(tokenOf('bearer abc')).toBe('abc');
  for (const header of [undefined, '', 'Bearer', 'Bearer a b', 'Bearer a=b', 'DPoP abc', 'Bearer ä'])
    expect(tokenOf(header)).toBeUndefined();
});
