/**
 * SMART App Launch 2.2 as certification requires it: standalone and EHR launch, each kind of client, refresh,
 * revocation, introspection, OpenID Connect, Backend Services. Runs against a whole server, through the pages that
 * users see.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/
 */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boxes, formAction, openBrowser } from '../smart/browser.ts';
import {
  assertionOf,
  authorize,
  BASIC,
  launch,
  PASSWORD,
  post,
  REDIRECT,
  read,
  redeem,
  type Served,
  serveSmart,
} from '../smart/served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

const scopesOf = (body: Readonly<Record<string, unknown>>): readonly string[] => String(body['scope']).split(' ');

describe('discovery', () => {
  test('smart-configuration has all required fields, for any origin and without credentials', async () => {
    const response = await fetch(`${served.fhir}/.well-known/smart-configuration`, {
      headers: { origin: 'https://elsewhere.example.org' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const configuration = (await response.json()) as Readonly<Record<string, readonly string[] | string>>;
    for (const end of ['authorization', 'token', 'introspection', 'revocation', 'management'])
      expect(configuration[`${end}_endpoint`]).toMatch(new RegExp(`^${served.auth}/`));
    expect(configuration['issuer']).toBe(served.auth);
    expect(configuration['grant_types_supported']).toEqual(
      expect.arrayContaining(['authorization_code', 'client_credentials']),
    );
    expect(configuration['code_challenge_methods_supported']).toEqual(['S256']);
    expect(configuration['token_endpoint_auth_signing_alg_values_supported']).toEqual(['RS384', 'ES384']);
    expect([...(configuration['capabilities'] ?? [])].toSorted()).toEqual([
      ...['authorize-post', 'client-confidential-asymmetric', 'client-confidential-symmetric', 'client-public'],
      ...['context-banner', 'context-ehr-encounter', 'context-ehr-patient', 'context-standalone-encounter'],
      'context-standalone-patient',
      ...['context-style', 'launch-ehr', 'launch-standalone', 'permission-offline', 'permission-patient'],
      ...['permission-user', 'permission-v1', 'permission-v2', 'sso-openid-connect'],
    ]);
  });

  test('openid-configuration is at the issuer and has the same endpoints', async () => {
    const response = await fetch(`${served.auth}/.well-known/openid-configuration`);
    const configuration = (await response.json()) as Readonly<Record<string, unknown>>;
    expect(configuration).toMatchObject({
      issuer: served.auth,
      token_endpoint: `${served.auth}/token`,
      jwks_uri: `${served.auth}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    });
  });
});

describe('standalone launch', () => {
  test.each(['GET', 'POST'] as const)('of a public client, authorized by %s', async method => {
    const done = await authorize(served, { method });
    expect(done.page.url.startsWith(`${REDIRECT}&code=`)).toBe(true);
    expect(new URL(done.page.url).searchParams.get('state')).toBe('the-state');
    expect(new URL(done.page.url).searchParams.get('iss')).toBe(served.auth);
    const { status, headers, body } = await redeem(served, done);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      patient: '1',
      need_patient_banner: true,
      smart_style_url: expect.stringMatching(new RegExp(`^${served.auth}/style.json\\?v=[0-9a-f]{8}$`)),
      id_token: expect.any(String),
      refresh_token: expect.any(String),
    });
    expect(scopesOf(body).toSorted()).toEqual(
      ['launch/patient', 'openid', 'fhirUser', 'offline_access', 'patient/*.rs'].toSorted(),
    );
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect(await read(served, 'Patient/2', body['access_token'])).toBe(404);
    expect(await read(served, 'Observation?patient=1', body['access_token'])).toBe(200);
  });

  test('CORS allows the token response to the origin of the app only', async () => {
    const ask = async (origin: string) => redeem(served, await authorize(served), { client_id: 'public' }, { origin });
    const own = await ask('https://app.example.org');
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example.org']);
    const other = await ask('https://elsewhere.example.org');
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([400, null]);
    const asked = await fetch(`${served.auth}/token`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.org', 'access-control-request-method': 'POST' },
    });
    expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([204, 'POST']);
  });

  test('of a client with a secret, sent by HTTP Basic', async () => {
    const { status, body } = await launch(served, { client: 'secret' });
    expect([status, body['patient']]).toEqual([200, '1']);
  });

  test.each(['RS384', 'ES384'] as const)('of a client with a key, %s, whose refresh is signed too', async alg => {
    const done = await authorize(served, { client: 'key' });
    const { status, body } = await redeem(served, done, await assertionOf(served, 'key', { alg }));
    expect([status, body['patient']]).toEqual([200, '1']);
    const again = await post(`${served.auth}/token`, {
      ...{ grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) },
      ...(await assertionOf(served, 'key', { alg })),
    });
    expect([again.status, again.body['patient']]).toEqual([200, '1']);
  });

  test('the id_token identifies the user, and the published keys verify it', async () => {
    const { body } = await launch(served);
    const keys = createRemoteJWKSet(new URL(`${served.auth}/jwks`));
    const { payload, protectedHeader } = await jwtVerify(String(body['id_token']), keys, {
      ...{ issuer: served.auth, audience: 'public', algorithms: ['RS256'] },
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(payload).toMatchObject({ sub: 'anna', fhirUser: `${served.fhir}/Patient/1` });
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  });

  test('of version 1: a granted scope permits read and search', async () => {
    const { body } = await launch(served, { scope: 'launch/patient patient/Patient.read patient/Observation.*' });
    expect(scopesOf(body).toSorted()).toEqual(['launch/patient', 'patient/Observation.read', 'patient/Patient.read']);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect(await read(served, 'Observation?patient=1', body['access_token'])).toBe(200);
  });

  test('a scope that is unticked at consent is not granted, and its requests are refused', async () => {
    const scope = 'launch/patient patient/Patient.rs patient/Observation.rs patient/Encounter.rs';
    const { body } = await launch(served, {
      scope,
      tick: page => boxes(page, 'scope').filter(one => !one.includes('Observation')),
    });
    expect(scopesOf(body).toSorted()).toEqual(['launch/patient', 'patient/Encounter.rs', 'patient/Patient.rs']);
    expect(await read(served, 'Encounter?patient=1', body['access_token'])).toBe(200);
    expect(await read(served, 'Observation?patient=1', body['access_token'])).toBe(403);
  });

  test('a granular scope of a type can be granted instead of the whole type', async () => {
    const part = 'patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|survey';
    const { body } = await launch(served, {
      scope: 'launch/patient patient/Patient.rs patient/Observation.rs',
      tick: page => {
        expect(boxes(page, 'scope')).not.toContain(part);
        expect(boxes(page, 'scope', 'all')).toContain(part);
        return ['patient/Patient.rs', part];
      },
    });
    expect(scopesOf(body)).toEqual(['launch/patient', 'patient/Patient.rs', part]);
  });

  test('a manipulated consent form grants no more than was requested', async () => {
    const { body } = await launch(served, {
      scope: 'launch/patient patient/Patient.rs',
      tick: () => ['patient/Patient.rs', 'patient/Observation.rs', 'user/*.rs', 'offline_access', 'system/*.rs'],
    });
    expect(scopesOf(body)).toEqual(['launch/patient', 'patient/Patient.rs']);
    expect(body['refresh_token']).toBeUndefined();
  });

  test('scopes that write, and those in the wrong order, are not granted', async () => {
    const { body } = await launch(served, {
      scope: 'launch/patient patient/Patient.cruds patient/Observation.sr patient/Encounter.write system/*.rs nonsense',
    });
    expect(scopesOf(body)).toEqual(['launch/patient', 'patient/Patient.rs']);
  });

  test('the user chooses a visit if the app requests one, and the token response has it', async () => {
    const scope = 'launch/patient launch/encounter offline_access patient/*.rs';
    const done = await authorize(served, { scope, encounter: '8' });
    const page = done.seen.find(({ html }) => html.includes('Which visit?'));
    expect(page?.html).toContain('Kowalski');
    expect(page?.html).not.toContain('<script');
    const { body } = await redeem(served, done);
    expect([body['patient'], body['encounter']]).toEqual(['1', '8']);
    expect(scopesOf(body)).toContain('launch/encounter');
    const again = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, again)).body['encounter']).toBe('8');
  });

  test('a visit can be left out, and then its scope is not granted', async () => {
    const scope = 'launch/patient launch/encounter patient/*.rs';
    const { body } = await launch(served, { scope, encounter: '~' });
    expect([body['patient'], body['encounter']]).toEqual(['1', undefined]);
    expect(scopesOf(body)).toEqual(['launch/patient', 'patient/*.rs']);
  });

  test.each([
    ['of nobody', 'nothing'],
    ['of several at once', '7,8'],
  ])('a visit %s cannot be chosen', async (_title, encounter) => {
    const { code, page } = await authorize(served, { scope: 'launch/encounter patient/*.rs', encounter });
    expect([code, page.status, page.html.includes('This visit cannot be chosen')]).toEqual([undefined, 403, true]);
  });

  test('without visits no choice is shown, and the scope is not granted', async () => {
    const { body } = await launch(served, { user: 'bert', scope: 'launch/patient launch/encounter patient/*.rs' });
    expect([body['patient'], body['encounter']]).toEqual(['2', undefined]);
    expect(scopesOf(body)).not.toContain('launch/encounter');
    await post(`${served.auth}/revoke`, { token: String(body['access_token']), client_id: 'public' });
  });

  test('denying consent redirects to the app with access_denied', async () => {
    const { page } = await authorize(served, { decision: 'deny' });
    const { searchParams } = new URL(page.url);
    expect(page.url.startsWith(REDIRECT)).toBe(true);
    expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['access_denied', 'the-state']);
  });
});

describe('authorization requests that get no code', () => {
  const refused: readonly (readonly [title: string, parameters: Readonly<Record<string, string | null>>])[] = [
    ['no aud', { aud: null }],
    ['the aud of another server', { aud: 'https://elsewhere.example.org/fhir' }],
    ['an aud that only begins alike', { aud: 'AUD/../fhirx' }],
    ['an unknown launch', { launch: 'nonsense', scope: 'launch patient/*.rs' }],
    ['no challenge', { code_challenge: null, code_challenge_method: null }],
    ['a plain challenge', { code_challenge_method: 'plain' }],
    ['another response type', { response_type: 'token' }],
    ['no interaction where one is needed', { prompt: 'none' }],
  ];
  test.each(refused)('%s: the app gets the error', async (_title, parameters) => {
    const { page, code } = await authorize(served, { parameters });
    expect(code).toBeUndefined();
    expect(page.url.startsWith(REDIRECT)).toBe(true);
    expect(page.url).toMatch(/[?&#]error=/);
  });

  test.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: null }],
    ['no redirect', { redirect_uri: null }],
    ['a redirect that only begins alike', { redirect_uri: `${REDIRECT}&more=1` }],
    ['a redirect below the registered one', { redirect_uri: 'https://app.example.org/back/../evil' }],
    ['a redirect elsewhere', { redirect_uri: 'https://app.example.org.evil.example/back?kept=1' }],
  ])('%s: an error page without a redirect', async (_title, parameters: Readonly<Record<string, string | null>>) => {
    const { page } = await authorize(served, { parameters });
    expect([page.status, page.url.startsWith(served.auth)]).toEqual([400, true]);
    expect(page.html).toContain('This did not work');
  });
});

describe('the token endpoint refuses', () => {
  test('a wrong code with exactly 400', async () => {
    const { status, body } = await redeem(served, { code: 'nonsense', verifier: 'x'.repeat(43) });
    expect([status, body['error']]).toEqual([400, 'invalid_grant']);
  });

  test('another grant type with exactly 400', async () => {
    const { status, body } = await post(`${served.auth}/token`, { grant_type: 'password', client_id: 'public' });
    expect([status, body['error']]).toEqual([400, 'unsupported_grant_type']);
  });

  test.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['another client', { client_id: 'secret' }],
    ['no client', {}],
    ['a client with a key, without it', { client_id: 'key' }],
  ])('a code from %s', async (_title, fields: Readonly<Record<string, string>>) => {
    const { status } = await redeem(served, await authorize(served), fields);
    expect([400, 401]).toContain(status);
  });

  test.each([
    ['wrong', 'x'.repeat(43)],
    ['short', 'x'],
    ['blank', ''],
    ['the challenge itself', undefined],
  ])('a verifier that is %s', async (_title, verifier) => {
    const done = await authorize(served);
    const wrong = verifier ?? done.code ?? '';
    expect((await redeem(served, { ...done, verifier: wrong })).status).toBe(400);
  });

  test('a code without a verifier', async () => {
    const { code = '' } = await authorize(served);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, client_id: 'public' };
    expect((await post(`${served.auth}/token`, fields)).status).toBe(400);
  });

  test('a code for another redirect address', async () => {
    const done = await authorize(served);
    const fields = { client_id: 'public', redirect_uri: 'https://app.example.org/other' };
    expect((await redeem(served, done, fields)).status).toBe(400);
  });

  test('a wrong secret', async () => {
    const done = await authorize(served, { client: 'secret' });
    const { status } = await redeem(served, done, {}, { authorization: `Basic ${btoa('secret:nonsense')}` });
    expect(status).toBe(401);
  });

  test('a code that was used before, and revokes its tokens', async () => {
    const done = await authorize(served);
    const { body } = await redeem(served, done);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect((await redeem(served, done)).status).toBe(400);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(401);
    const again = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, again)).status).toBe(400);
  });

  test('all but one of several simultaneous requests with one code', async () => {
    const done = await authorize(served);
    const all = await Promise.all(Array.from({ length: 8 }, () => redeem(served, done)));
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    // The code was used twice, so no token issued for it is valid.
    for (const { body } of all)
      if (body['access_token']) expect(await read(served, 'Patient/1', body['access_token'])).toBe(401);
  });
});

describe('refresh', () => {
  const refresh = (token: unknown, more: Readonly<Record<string, string>> = {}) =>
    post(`${served.auth}/token`, {
      ...{ grant_type: 'refresh_token', refresh_token: String(token), client_id: 'public' },
      ...more,
    });

  test('gives a new access token, the same context and a new refresh token', async () => {
    const { body: first } = await launch(served);
    const { status, headers, body } = await refresh(first['refresh_token']);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ patient: '1', scope: first['scope'], token_type: 'Bearer' });
    expect(body['refresh_token']).not.toBe(first['refresh_token']);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  });

  test('may request fewer scopes, not more', async () => {
    const { body } = await launch(served, {
      scope: 'launch/patient offline_access patient/Patient.rs patient/Observation.rs',
    });
    const less = await refresh(body['refresh_token'], { scope: 'launch/patient offline_access patient/Patient.rs' });
    expect(scopesOf(less.body)).not.toContain('patient/Observation.rs');
    expect(await read(served, 'Observation?patient=1', less.body['access_token'])).toBe(403);
    const more = await refresh(less.body['refresh_token'], { scope: 'patient/Encounter.rs' });
    expect([more.status, more.body['error']]).toEqual([400, 'invalid_scope']);
  });

  test('with a used token revokes all tokens of the grant', async () => {
    const { body: first } = await launch(served);
    const { body: second } = await refresh(first['refresh_token']);
    expect((await refresh(first['refresh_token'])).status).toBe(400);
    expect((await refresh(second['refresh_token'])).status).toBe(400);
    expect(await read(served, 'Patient/1', second['access_token'])).toBe(401);
  });

  test('needs offline_access, a token that is known, and its own client', async () => {
    const { body } = await launch(served, { scope: 'launch/patient patient/*.rs' });
    expect(body['refresh_token']).toBeUndefined();
    expect((await refresh('nonsense')).status).toBe(400);
    const { body: other } = await launch(served);
    const stolen = { grant_type: 'refresh_token', refresh_token: String(other['refresh_token']) };
    expect((await post(`${served.auth}/token`, stolen, BASIC)).status).toBe(400);
  });

  test('is not possible if the person unticks offline_access', async () => {
    const { body } = await launch(served, {
      tick: page => boxes(page, 'scope').filter(one => one !== 'offline_access'),
    });
    expect([body['refresh_token'], scopesOf(body).includes('offline_access')]).toEqual([undefined, false]);
  });
});

describe('revocation', () => {
  test('by the person, on the page of apps: both tokens become invalid', async () => {
    const browser = openBrowser(served.auth);
    const done = await authorize(served, { browser });
    const { body } = await redeem(served, done);
    const page = await browser.open(`${served.auth}/apps`);
    expect(page.html).toContain('Growth &lt;chart&gt;');
    expect(page.html).toContain('Kowalski');
    // In words, as on the consent page.
    expect(page.html).toContain('<span class="quiet">of this patient</span>');
    expect(page.html).toContain('Also while you are away');
    expect(page.html).not.toContain('offline_access');
    const grant = /name="grant" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    const after = await browser.send(formAction(page, '/apps/end'), [['grant', grant]]);
    expect(after.html).toContain('The access has ended.');
    expect(after.html).not.toContain(grant);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(401);
    const again = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, again)).status).toBe(400);
  });

  test('a person cannot revoke the grants of another', async () => {
    const { body } = await launch(served, { user: 'anna' });
    const anna = openBrowser(served.auth);
    const login = [
      ['username', 'anna'],
      ['password', PASSWORD],
    ] as const;
    const own = await anna.send(`${served.auth}/login`, login);
    const grants = [...own.html.matchAll(/name="grant" value="([^"]+)"/g)].map(match => match[1] ?? '');
    const bert = openBrowser(served.auth);
    const page = await bert.send(`${served.auth}/login`, [
      ['username', 'bert'],
      ['password', PASSWORD],
    ]);
    expect(page.html).toContain('No app has access.');
    for (const grant of grants) await bert.send(`${served.auth}/apps/end`, [['grant', grant]]);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  });

  test('by the app itself', async () => {
    const { body } = await launch(served, { client: 'secret' });
    const token = String(body['refresh_token']);
    expect((await post(`${served.auth}/revoke`, { token }, BASIC)).status).toBe(200);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(401);
  });
});

describe('introspection', () => {
  const introspect = (token: unknown, headers = BASIC) =>
    post(`${served.auth}/introspect`, { token: String(token) }, headers);

  test('of a valid token returns the data of the token response', async () => {
    const { body } = await launch(served, { client: 'secret' });
    const { status, body: told } = await introspect(body['access_token']);
    expect(status).toBe(200);
    expect(told).toMatchObject({
      ...{ active: true, client_id: 'secret', scope: body['scope'], patient: '1', iss: served.auth, sub: 'anna' },
      ...{ fhirUser: `${served.fhir}/Patient/1`, exp: expect.any(Number) },
    });
  });

  test.each(['nonsense', 'x'.repeat(43)])('of %s returns only that it is inactive', async token => {
    expect((await introspect(token)).body).toEqual({ active: false });
  });

  test('of a revoked one returns the same', async () => {
    const { body } = await launch(served, { client: 'secret' });
    await post(`${served.auth}/revoke`, { token: String(body['access_token']) }, BASIC);
    expect((await introspect(body['access_token'])).body).toEqual({ active: false });
  });

  test('of a token of another client is refused to a public client, and an unknown token is 400', async () => {
    const { body } = await launch(served);
    expect((await introspect(body['access_token'])).body['active']).toBe(true);
    const { body: own } = await launch(served, { client: 'secret' });
    const fields = { token: String(own['access_token']), client_id: 'public' };
    expect((await post(`${served.auth}/introspect`, fields)).body).toEqual({ active: false });
    expect((await post(`${served.auth}/introspect`, { token: 'x' })).status).toBe(400);
  });
});

describe('Backend Services', () => {
  const token = async (fields: Readonly<Record<string, string>>, scope = 'system/*.rs') =>
    post(`${served.auth}/token`, { grant_type: 'client_credentials', scope, ...fields });

  test.each(['RS384', 'ES384'] as const)('a token for an assertion signed with %s', async alg => {
    const { status, headers, body } = await token(await assertionOf(served, 'backend', { alg }));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      ...{ access_token: expect.any(String), token_type: 'Bearer', expires_in: 300, scope: 'system/*.rs' },
    });
    expect(await read(served, 'Patient/2', body['access_token'])).toBe(200);
  });

  test('scopes are limited to the registered read scopes', async () => {
    const scope = 'system/Patient.cruds system/Observation.write patient/*.rs openid';
    const { body } = await token(await assertionOf(served, 'backend'), scope);
    expect(body['scope']).toBe('system/Patient.rs');
    expect(await read(served, 'Observation?patient=1', body['access_token'])).toBe(403);
  });

  test('no requested scope permitted: 400', async () => {
    const { status, body } = await token(await assertionOf(served, 'backend'), 'patient/*.rs');
    expect([status, body['error']]).toEqual([400, 'invalid_scope']);
  });

  test('an assertion is accepted once, also among simultaneous requests', async () => {
    const assertion = await assertionOf(served, 'backend');
    const all = await Promise.all(Array.from({ length: 8 }, () => token(assertion)));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
    expect((await token(assertion)).status).toBe(401);
  });

  const now = Math.floor(Date.now() / 1000);
  test.each([
    ['for another audience', { claims: { aud: 'https://elsewhere.example.org/token' } }],
    ['of another issuer', { claims: { iss: 'key' } }],
    ['expired', { claims: { exp: now - 120 } }],
    ['good for too long', { claims: { exp: now + 3600 } }],
    ['without an end', { claims: { exp: undefined } }],
    ['without an id', { claims: { jti: undefined } }],
    ['with keys from elsewhere', { header: { jku: 'http://127.0.0.1:1/keys' } }],
  ])('an assertion that is %s: 400 or 401', async (_title, options) => {
    const { status } = await token(await assertionOf(served, 'backend', options));
    expect([400, 401]).toContain(status);
  });

  test('an assertion signed by a foreign key, or unsigned: 401', async () => {
    const { keys } = await serveKeys();
    expect((await token(await assertionOf(served, 'backend', { key: keys }))).status).toBe(401);
    const good = await assertionOf(served, 'backend');
    const [, payload = ''] = good['client_assertion']?.split('.') ?? [];
    const none = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${payload}.`;
    expect((await token({ ...good, client_assertion: none })).status).toBe(401);
  });

  test('a wrong grant type or assertion type: 400 or 401', async () => {
    const assertion = await assertionOf(served, 'backend');
    const wrong = await token({ ...assertion, grant_type: 'not_a_grant_type' });
    expect(wrong.status).toBe(400);
    const other = await token({
      ...(await assertionOf(served, 'backend')),
      client_assertion_type: 'not_an_assertion_type',
    });
    expect([400, 401]).toContain(other.status);
    expect((await token({ client_id: 'backend' })).status).toBe(401);
  });

  test('a user-facing client gets no backend token, and a backend no user token', async () => {
    expect((await token(await assertionOf(served, 'key'))).status).toBe(400);
    expect((await authorize(served, { client: 'backend' })).code).toBeUndefined();
  });
});

/** An unregistered key under the id of a registered one. */
async function serveKeys() {
  const { exportJWK, generateKeyPair } = await import('jose');
  const { privateKey } = await generateKeyPair('RS384', { extractable: true });
  return { keys: { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS384' } };
}

describe('EHR launch', () => {
  const announce = async (launchContext: Readonly<Record<string, unknown>>, bearer?: string) => {
    const { body } = await post(`${served.auth}/token`, {
      ...{ grant_type: 'client_credentials', scope: 'system/launch' },
      ...(await assertionOf(served, 'ehr')),
    });
    const response = await fetch(`${served.auth}/launch`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${bearer ?? String(body['access_token'])}`,
      },
      body: JSON.stringify(launchContext),
    });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> };
  };
  const context = { client: 'public', patient: '1', encounter: '7', needPatientBanner: false, intent: 'growth' };
  const scope = 'launch openid fhirUser offline_access patient/Patient.rs user/*.rs';

  test('the app gets patient, visit, need_patient_banner and the lifetime', async () => {
    const { status, body } = await announce(context);
    expect(status).toBe(201);
    const url = new URL(body['url'] ?? '');
    expect([url.searchParams.get('iss'), url.searchParams.get('launch')]).toEqual([served.fhir, body['launch']]);
    const parameters = { launch: body['launch'] ?? '' };
    const { body: token } = await launch(served, { scope, parameters, method: 'POST' });
    expect(token).toMatchObject({ patient: '1', encounter: '7', need_patient_banner: false, intent: 'growth' });
    expect(scopesOf(token)).toContain('launch');
    const again = { grant_type: 'refresh_token', refresh_token: String(token['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, again)).body).toMatchObject({ patient: '1', encounter: '7' });
    const { body: told } = await post(`${served.auth}/introspect`, { token: String(token['access_token']) }, BASIC);
    expect(told).toMatchObject({ active: true, patient: '1', encounter: '7' });
  });

  test('the app gets the fhirContext of the EHR, with each token', async () => {
    const fhirContext = [
      { reference: 'Observation/w-7' },
      { canonical: 'http://example.org/Questionnaire/phq-9|1', type: 'Questionnaire' },
      {
        identifier: { system: 'urn:oid:1.2.3', value: '7' },
        type: 'ImagingStudy',
        role: 'https://example.org/role/basis',
      },
      { reference: 'Encounter/8', role: 'https://example.org/role/previous' },
    ];
    const { status, body } = await announce({ ...context, fhirContext });
    expect(status).toBe(201);
    const { body: token } = await launch(served, { scope, parameters: { launch: body['launch'] ?? '' } });
    expect(token).toMatchObject({ patient: '1', encounter: '7', fhirContext });
    const again = { grant_type: 'refresh_token', refresh_token: String(token['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, again)).body['fhirContext']).toEqual(fhirContext);
    // If the EHR names none, the list is absent.
    const { body: bare } = await announce({ ...context, fhirContext: [] });
    const { body: other } = await launch(served, { scope, parameters: { launch: bare['launch'] ?? '' } });
    expect(other).not.toHaveProperty('fhirContext');
  });

  test.each<[title: string, fhirContext: unknown]>([
    ['the patient in its list', [{ reference: 'Patient/1' }]],
    ['an encounter in its list', [{ identifier: { value: '7' }, type: 'Encounter', role: 'launch' }]],
    ['texts', ['Observation/w-7']],
    ['an absolute reference', [{ reference: 'https://elsewhere.example.org/fhir/Observation/7' }]],
    ['an item that names nothing', [{ type: 'Observation' }]],
    ['an empty role', [{ reference: 'Observation/w-7', role: '' }]],
    ['an unknown element', [{ reference: 'Observation/w-7', more: 1 }]],
    ['no list', { reference: 'Observation/w-7' }],
    ['a list that is too long', Array.from({ length: 21 }, () => ({ reference: 'Observation/w-7' }))],
  ])('a launch with %s is refused', async (_title, fhirContext) => {
    const { status, body } = await announce({ ...context, fhirContext });
    expect([status, String(body['error_description']).startsWith('fhirContext: expected')]).toEqual([400, true]);
  });

  test('without a visit from the EHR the scope that asks for one is not granted', async () => {
    const { body } = await announce({ client: 'public', patient: '1' });
    const asked = 'launch launch/encounter patient/*.rs';
    const { body: token } = await launch(served, { scope: asked, parameters: { launch: body['launch'] ?? '' } });
    expect(scopesOf(token)).toEqual(['launch', 'patient/*.rs']);
  });

  test('a launch is valid once, for one client and one person', async () => {
    const { body } = await announce({ ...context, user: 'Patient/1' });
    const parameters = { launch: body['launch'] ?? '' };
    expect((await authorize(served, { scope, parameters, client: 'secret' })).code).toBeUndefined();
    const other = await authorize(served, { scope, parameters, user: 'bert' });
    expect([other.code, other.page.status]).toEqual([undefined, 403]);
    expect((await authorize(served, { scope, parameters })).code).toBeDefined();
    expect((await authorize(served, { scope, parameters })).code).toBeUndefined();
  });

  test('a launch does not open a patient whom the person may not see', async () => {
    const { body } = await announce({ ...context, patient: '2' });
    const { code, page } = await authorize(served, { scope, parameters: { launch: body['launch'] ?? '' } });
    expect([code, page.status]).toEqual([undefined, 403]);
  });

  test('only a trusted client announces launches, in the right form', async () => {
    const { body: person } = await launch(served);
    expect((await announce(context, 'nonsense')).status).toBe(401);
    expect((await announce(context, String(person['access_token']))).status).toBe(403);
    expect((await announce({ ...context, client: 'nobody' })).status).toBe(400);
    for (const wrong of [
      { patient: '1' },
      { ...context, patient: 1 },
      { ...context, more: 1 },
      { ...context, user: 'x' },
    ])
      expect((await announce(wrong)).status).toBe(400);
  });

  test('smart_style_url is JSON for any origin', async () => {
    const { body: token } = await launch(served);
    const headers = { origin: 'https://app.example.org' };
    const response = await fetch(String(token['smart_style_url']), { headers });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await response.json()).toMatchObject({ color_background: expect.any(String) });
  });
});
