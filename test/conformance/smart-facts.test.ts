/**
 * Details of a certification run that are easy to lose: each is a requirement of the test kits that the scenarios of
 * smart.test.ts do not cover.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runsOf } from '../share.ts';
import { assertionOf, BASIC, launch, post, read, type Served, serveSmart } from '../smart/served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

test('discovery has every required and expected field', async () => {
  const response = await fetch(`${served.fhir}/.well-known/smart-configuration`);
  const told = (await response.json()) as Readonly<Record<string, unknown>>;
  expect(told['jwks_uri']).toBe(`${served.auth}/jwks`);
  expect(told['response_types_supported']).toEqual(['code']);
  expect(told['scopes_supported']).toEqual(
    expect.arrayContaining(['openid', 'fhirUser', 'launch', 'launch/patient', 'offline_access', 'patient/*.rs']),
  );
  expect(told['token_endpoint_auth_methods_supported']).toEqual(
    expect.arrayContaining(['client_secret_basic', 'private_key_jwt']),
  );
  const blank = Object.entries(told).filter(
    ([, value]) => value === '' || (Array.isArray(value) && value.length === 0),
  );
  expect(blank).toEqual([]);
});

const ORIGIN = 'https://app.example.org';

test('an app in a browser reads /metadata, and the user that the id_token names', async () => {
  const metadata = await fetch(`${served.fhir}/metadata`, { headers: { origin: ORIGIN } });
  expect([metadata.status, metadata.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
  const { body } = await launch(served);
  const [, payload = ''] = String(body['id_token']).split('.');
  const { fhirUser, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, string>;
  expect(sub?.length).toBeLessThan(256);
  const asked = await fetch(fhirUser ?? '', {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,break-glass',
    },
  });
  expect(asked.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(asked.headers.get('access-control-allow-headers')).toMatch(/authorization/i);
  const person = await fetch(fhirUser ?? '', {
    headers: { origin: ORIGIN, authorization: `Bearer ${String(body['access_token'])}` },
  });
  expect([person.status, person.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
  const strange = await fetch(fhirUser ?? '', {
    headers: { origin: 'https://evil.example.org', authorization: `Bearer ${String(body['access_token'])}` },
  });
  expect(strange.headers.get('access-control-allow-origin')).toBeNull();
});

test('clock skew below 60 seconds is accepted, more is refused', async () => {
  const now = Math.floor(Date.now() / 1000);
  for (const [claims, status] of [
    [{ exp: now - 30 }, 200],
    [{ exp: now + 300, iat: now + 30, nbf: now + 30 }, 200],
    [{ exp: now - 120 }, 401],
    [{ exp: now + 300, nbf: now + 120 }, 401],
  ] as const) {
    const assertion = await assertionOf(served, 'backend', { claims });
    const { status: got } = await post(`${served.auth}/token`, {
      ...{ grant_type: 'client_credentials', scope: 'system/*.rs' },
      ...assertion,
    });
    expect([claims, got]).toEqual([claims, status]);
  }
});

test('introspection returns the scopes of the token response, and iss and sub of the id_token', async () => {
  const { body } = await launch(served, { client: 'secret', scope: 'launch/patient openid fhirUser patient/*.rs' });
  const { body: told } = await post(`${served.auth}/introspect`, { token: String(body['access_token']) }, BASIC);
  const [, payload = ''] = String(body['id_token']).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, unknown>>;
  expect([told['iss'], told['sub']]).toEqual([claims['iss'], claims['sub']]);
  expect(String(told['scope']).split(' ').toSorted()).toEqual(String(body['scope']).split(' ').toSorted());
});

test('a standalone launch has no fhirContext, which one test kit misreads', async () => {
  const { body } = await launch(served);
  expect(Object.keys(body)).not.toContain('fhirContext');
});

test('access is checked for each request of a batch', async () => {
  const { body } = await launch(served, { scope: 'launch/patient patient/Patient.rs' });
  const entry = ['Patient/1', 'Patient/2', 'Observation?patient=1'].map(url => ({ request: { method: 'GET', url } }));
  const response = await fetch(served.fhir, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(body['access_token'])}`, 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
  });
  const told = (await response.json()) as { readonly entry: readonly { readonly response: { status: string } }[] };
  expect(told.entry.map(one => one.response.status.slice(0, 3))).toEqual(['200', '404', '403']);
});

test('thousands of forged tokens are refused, and valid ones still work', { timeout: 240_000 }, async () => {
  const { body } = await launch(served);
  const forged = runsOf(10_000);
  let refused = 0;
  const flood = async (from: number): Promise<void> => {
    for (let i = from; i < forged; i += 20)
      if ((await read(served, 'Patient/1', `${i}`.padStart(43, 'x'))) === 401) refused++;
  };
  const flooding = Promise.all(Array.from({ length: 20 }, (_, i) => flood(i)));
  for (let i = 0; i < 20; i++) expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  await flooding;
  expect(refused).toBe(forged);
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
});
