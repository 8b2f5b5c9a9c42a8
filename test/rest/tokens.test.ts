/**
 * Authentication at the REST interface when users log in at an issuer: by an access token, or by a password for
 * accounts that may use one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessOfGrant } from '../../src/auth/granted.ts';
import { createMeters, perMinute } from '../../src/auth/meter.ts';
import { NO_RULES, type PackAccess } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';
import { createEntry } from '../../src/http/middleware/bearer.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { form, PASSWORD, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 4 });
});
afterAll(() => demo.close());

const SMART = { ACCESS: 'smart', BASE_URL: 'http://localhost' };
const ISSUER = { ...SMART, LOGIN_ISSUER: 'https://login.example.org', LOGIN_CLIENT_ID: 'lintel' };
const JWT = { ACCESS: 'jwt', ACCESS_FILE: 'issuers.yaml', BASE_URL: 'http://localhost' };
const RULES: PackAccess = { ...NO_RULES, users: [{ user: 'Practitioner', patients: [['_id', '1']], also: [] }] };

const GRANT: Grant = {
  ...{ subject: 'dr', client: 'app', issuer: 'https://login.example.org', scopes: ['user/*.rs'] },
  ...{ fhirUser: 'Practitioner/1', expires: Date.now() + 3_600_000 },
};

const TYPES = ['Patient', 'Encounter', 'Practitioner', 'Organization', 'Location', 'Condition', 'RelatedPerson'];
const PART = 'user/Observation.rs?category=laboratory';
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  narrow: ['user/Patient.rs'],
  part: [...TYPES.map(type => `user/${type}.rs`), PART],
  'part-and-whole': [...TYPES.map(type => `user/${type}.rs`), PART, 'user/Observation.rs'],
};

function under(environment: Readonly<Record<string, string>>): Promise<RestUnderTest> {
  const revoked = new Set<string>();
  const tokens = {
    async grantOf(token: string) {
      if (token === 'good') return GRANT;
      const scopes = SCOPES[token];
      return scopes && { ...GRANT, scopes };
    },
    epoch: () => revoked.size,
  };
  const entry = createEntry(tokens, grant => accessOfGrant(grant, RULES));
  const more = environment['ACCESS'] === undefined ? {} : { entry };
  return restUnderTest(demo.facade, environment, undefined, more, RULES);
}

test('requests of a person at the REST interface are limited, too', async () => {
  const rest = await restUnderTest(demo.facade, {}, undefined, { rate: createMeters(perMinute(60), () => 0) });
  const anna = await rest.client();
  const patients = '/api/patientsummary?search=a';
  for (let i = 0; i < 60; i++) expect((await anna.get(patients)).status).not.toBe(429);
  const refused = await anna.get(patients);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  // A logged-in user has separate limits.
  await rest.client();
});

const login = async ({ app }: RestUnderTest): Promise<number> => {
  const init = { method: 'POST', body: form({ username: 'anna', password: PASSWORD }) };
  return (await app.request('http://localhost/api/users/login', init)).status;
};

test.each<[title: string, environment: Readonly<Record<string, string>>, unmarked: number]>([
  ['an open server', {}, 200],
  ['a server that keeps passwords', SMART, 200],
  ['people log in at an issuer', ISSUER, 401],
  ['and by passwords too', { ...ISSUER, LOGIN_PASSWORDS: 'true' }, 200],
  ['tokens of other issuers', JWT, 401],
  ['of which the operator says the same', { ...JWT, LOGIN_PASSWORDS: 'false' }, 401],
  ['and passwords too', { ...JWT, LOGIN_PASSWORDS: 'true' }, 200],
])('a password at the REST interface: %s', async (_title, environment, unmarked) => {
  const rest = await under(environment);
  expect(await login(rest)).toBe(unmarked);
  const anna = rest.accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  rest.accounts.set('anna', { ...anna, restPassword: true });
  // The earlier refusals count as wrong passwords, so the throttle applies.
  rest.wait(60_000);
  expect(await login(rest)).toBe(200);
});

test('a session ends when its account may no longer log in by its password', async () => {
  const rest = await under({ ...ISSUER });
  const anna = rest.accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  rest.accounts.set('anna', { ...anna, restPassword: true, fhirUser: 'Practitioner/1' });
  const client = await rest.client();
  expect((await client.get('/api/patientinfo/1')).status).toBe(200);
  rest.accounts.set('anna', { ...anna, fhirUser: 'Practitioner/1' });
  expect((await client.get('/api/patientinfo/1')).status).toBe(401);
});

test('an access token is accepted as at the FHIR interface, with the same rules and scopes', async () => {
  const { app } = await under(ISSUER);
  const ask = (path: string, authorization: string, cookie = '') =>
    app.request(`http://localhost/api${path}`, { headers: { authorization, cookie } });
  for (const [path, token, status] of [
    ['/patientinfo/1', 'good', 200],
    ['/patientinfo/2', 'good', 404],
    ['/1/ccds/api/problems', 'good', 200],
    ['/2/ccds/api/problems', 'good', 404],
    ['/chart/1', 'good', 200],
    ['/patientinfo/1', 'narrow', 403],
    ['/1/ccds/api/problems', 'narrow', 403],
    ['/1/ccds/api/problems', 'part', 200],
    // It would say that there is no information about what the scope leaves out.
    ['/1/ccds/api/vital-signs', 'part', 403],
    ['/1/ccds/api/laboratory-results', 'part', 403],
    ['/1/ccds/api/vital-signs', 'part-and-whole', 200],
    ['/patientinfo/1', 'bad', 401],
  ] as const)
    expect([path, token, (await ask(path, `Bearer ${token}`)).status]).toEqual([path, token, status]);
  const refused = await ask('/patientinfo/1', 'Bearer bad');
  expect(refused.headers.get('www-authenticate')).toContain('invalid_token');
  expect(await refused.json()).toMatchObject({ error: 'unauthorized' });
});

test('a token overrides the session: a bad token with a valid session is refused; other schemes are ignored', async () => {
  const rest = await under(SMART);
  const anna = rest.accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  rest.accounts.set('anna', { ...anna, fhirUser: 'Practitioner/1' });
  const client = await rest.client();
  for (const authorization of ['Bearer bad', 'bearer', 'Bearer "bad"', 'Bearer a b', `Bearer ${'x'.repeat(12_000)}`])
    expect((await client.get('/api/patientinfo/1', { authorization })).status).toBe(401);
  expect((await client.get('/api/patientinfo/1', { authorization: 'Basic eDp5' })).status).toBe(200);
  expect((await client.get('/api/patientinfo/1')).status).toBe(200);
});

test('an open server ignores tokens', async () => {
  const { app } = await under({});
  const headers = { authorization: 'Bearer good' };
  expect((await app.request('http://localhost/api/patientinfo/1', { headers })).status).toBe(401);
});
