/**
 * Attacks that broke other servers, each tried on a whole one: tokens and codes in the wrong place, unregistered keys
 * and algorithms, redirects to foreign URLs, answers meant for others.
 */
import { createPublicKey, type JsonWebKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from './browser.ts';
import {
  assertionOf,
  authorize,
  BASIC,
  launch,
  PASSWORD,
  post,
  read,
  redeem,
  type Served,
  serveRestartable,
  serveSmart,
} from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const backend = (fields: Readonly<Record<string, string>>) =>
  post(`${served.auth}/token`, { grant_type: 'client_credentials', scope: 'system/*.rs', ...fields });

/** A backend client's assertion, but signed in another way. */
async function assertion(alg: string, key: Parameters<SignJWT['sign']>[0], kid?: string) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: 'backend', sub: 'backend', aud: `${served.auth}/token`, exp: now + 300, jti: randomUUID() };
  const token = await new SignJWT(claims).setProtectedHeader({ alg, ...(kid && { kid }) }).sign(key);
  return { client_assertion_type: ASSERTION, client_assertion: token };
}

test('a token is invalid after the server address changes', async () => {
  let own = await serveRestartable();
  onTestFinished(() => own.stop());
  const { body } = await launch(own);
  expect(await read(own, 'Patient/1', body['access_token'])).toBe(200);
  own = await own.restart({ BASE_URL: 'https://other.example.org' });
  expect(await read(own, 'Patient/1', body['access_token'])).toBe(401);
  own = await own.restart();
  expect(await read(own, 'Patient/1', body['access_token'])).toBe(200);
});

test('pages without an origin of their own, and origins of disabled apps, read nothing across origins', async () => {
  const [app] = served.clients;
  if (app === undefined) throw new Error('no client');
  onTestFinished(() => served.setClients(served.clients));
  served.setClients([
    ...served.clients,
    { ...app, id: 'native', redirects: ['com.example.app:/callback'] },
    { ...app, id: 'off', redirects: ['https://off.example.org/back'], disabled: true },
  ]);
  const allowed = async (origin: string): Promise<readonly (string | null)[]> => {
    const headers = { origin };
    const [read, token] = await Promise.all([
      fetch(`${served.fhir}/Patient`, { headers }),
      post(`${served.auth}/token`, { grant_type: 'authorization_code', client_id: 'native', code: 'x' }, headers),
    ]);
    await read.arrayBuffer();
    return [read, token].map(answer => answer.headers.get('access-control-allow-origin'));
  };
  // The Origin of a sandboxed frame or a local file, which URL also returns for an app's own URI scheme.
  expect(await allowed('null')).toEqual([null, null]);
  expect(await allowed('https://off.example.org')).toEqual([null, null]);
  expect(await allowed('https://app.example.org')).toEqual(['https://app.example.org', null]);
});

describe('algorithm confusion', () => {
  const publicKey = () => {
    const { d, p, q, dp, dq, qi, ...rest } = served.keys.RS384;
    return createPublicKey({ key: rest as JsonWebKey, format: 'jwk' });
  };

  test.each(['spki', 'pkcs1'] as const)('a public key as the secret of a MAC, %s', async type => {
    const secret = Buffer.from(String(publicKey().export({ type, format: 'pem' })));
    for (const alg of ['HS256', 'HS384', 'HS512'])
      for (const kid of ['one', undefined]) expect((await backend(await assertion(alg, secret, kid))).status).toBe(401);
  });

  test('the registered key by an algorithm that is not offered', async () => {
    for (const alg of ['RS256', 'RS512', 'PS384']) {
      const { alg: _alg, ...key } = served.keys.RS384;
      expect([alg, (await backend(await assertion(alg, { ...key, alg } as never, 'one'))).status]).toEqual([alg, 401]);
    }
  });

  test('a key of one kind under the id of another', async () => {
    expect((await backend(await assertion('ES384', served.keys.ES384, 'one'))).status).toBe(401);
    expect((await backend(await assertion('RS384', served.keys.RS384, 'two'))).status).toBe(401);
  });

  test('a key embedded in the assertion', async () => {
    const { privateKey, publicKey: own } = await generateKeyPair('RS384', { extractable: true });
    const jwk = await exportJWK(own);
    const good = await assertionOf(served, 'backend', {
      key: { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS384' },
      header: { jwk },
    });
    expect((await backend(good)).status).toBe(401);
  });

  test('the key of another client', async () => {
    const { privateKey, publicKey: own } = await generateKeyPair('ES384', { extractable: true });
    const mallory = { ...(await exportJWK(own)), kid: 'mallory', alg: 'ES384' };
    const [first] = served.clients;
    if (first === undefined) throw new Error('no clients');
    served.setClients([
      ...served.clients,
      { ...first, id: 'mallory', kind: 'key', jwks: { keys: [mallory] }, redirects: [], scopes: ['system/*.rs'] },
    ]);
    const key = { ...(await exportJWK(privateKey)), kid: 'mallory', alg: 'ES384' };
    expect((await backend(await assertionOf(served, 'mallory', { alg: 'ES384', key }))).status).toBe(200);
    const claims = { iss: 'backend', sub: 'backend' };
    expect((await backend(await assertionOf(served, 'mallory', { alg: 'ES384', key, claims }))).status).toBe(401);
    const named = { ...(await assertionOf(served, 'mallory', { alg: 'ES384', key })), client_id: 'backend' };
    expect([400, 401]).toContain((await backend(named)).status);
    served.setClients(served.clients);
  });
});

describe('addresses from a request', () => {
  const listener = async (answer: (url: string) => { readonly status: number; readonly location?: string }) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const { status, location } = answer(request.url ?? '');
      response.writeHead(status, location === undefined ? {} : { location }).end('{"keys":[]}');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  test('a request object is never fetched', async () => {
    const { asked, url } = await listener(() => ({ status: 200 }));
    for (const parameters of [{ request_uri: `${url}/request` }, { request: 'eyJhbGciOiJub25lIn0.e30.' }])
      expect((await authorize(served, { parameters })).code).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('keys are fetched from the registered URL only, without redirects', async () => {
    const inside = await listener(() => ({ status: 200 }));
    const outside = await listener(() => ({ status: 302, location: `${inside.url}/metadata` }));
    served.setClients(
      served.clients.map(({ jwks, ...client }) =>
        client.id === 'backend' ? { ...client, jwksUrl: `${outside.url}/keys` } : { ...client, ...(jwks && { jwks }) },
      ),
    );
    for (const header of [{}, { jku: `${inside.url}/keys` }, { x5u: `${inside.url}/keys` }])
      expect((await backend(await assertionOf(served, 'backend', { header }))).status).toBe(401);
    expect([outside.asked.includes('/keys'), inside.asked]).toEqual([true, []]);
    served.setClients(served.clients);
  });

  test('a login redirects to pages of this server only, whatever the form has', async () => {
    for (const place of ['https://evil.example.org', '//evil.example.org', '/\\evil.example.org', 'apps/../../evil']) {
      const page = await openBrowser(served.auth).send(`${served.auth}/login`, [
        ['username', 'anna'],
        ['password', PASSWORD],
        ['place', place],
      ]);
      expect(page.url).toBe(`${served.auth}/apps`);
    }
  });
});

describe('tokens and secrets are accepted in their proper place only', () => {
  test('not in a URL', async () => {
    const { body } = await launch(served);
    const token = String(body['access_token']);
    for (const path of [
      `Patient/1?access_token=${token}`,
      `Patient?access_token=${token}&_id=1`,
      `?access_token=${token}`,
    ])
      expect((await fetch(`${served.fhir}/${path}`)).status).toBe(401);
    const form = { method: 'POST', body: new URLSearchParams({ access_token: token }) };
    expect((await fetch(`${served.fhir}/Patient/_search`, form)).status).toBe(401);
  });

  test('the token endpoint reads no query', async () => {
    const done = await authorize(served);
    const query = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: done.code ?? '', code_verifier: done.verifier, client_id: 'public' },
      redirect_uri: 'https://app.example.org/back?kept=1',
    });
    expect((await post(`${served.auth}/token?${query}`, {})).status).toBe(400);
    expect((await fetch(`${served.auth}/token?${query}`)).status).toBeGreaterThanOrEqual(400);
    expect((await redeem(served, done)).status).toBe(200);
  });

  test('a code_challenge without a method means plain, and is refused', async () => {
    expect((await authorize(served, { parameters: { code_challenge_method: null } })).code).toBeUndefined();
  });

  test('nobody ends the tokens of another app', async () => {
    const { body } = await launch(served, { client: 'secret' });
    const fields = { token: String(body['access_token']), client_id: 'public' };
    await post(`${served.auth}/revoke`, fields);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect((await post(`${served.auth}/revoke`, { token: fields.token })).status).toBe(400);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect((await post(`${served.auth}/revoke`, { token: fields.token }, BASIC)).status).toBe(200);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(401);
  });
});

describe('consent', () => {
  test('is requested at each launch, and never implied by a previous one', async () => {
    const browser = openBrowser(served.auth);
    const first = await authorize(served, { browser, scope: 'launch/patient patient/Patient.rs' });
    const { body } = await redeem(served, first);
    const more = await authorize(served, { browser, scope: 'launch/patient patient/*.rs', decision: 'deny' });
    expect([more.code, more.seen.some(({ html }) => html.includes('/consent"'))]).toEqual([undefined, true]);
    const silent = await authorize(served, {
      browser,
      parameters: { prompt: 'none' },
      scope: 'launch/patient patient/*.rs',
    });
    expect([silent.code, new URL(silent.page.url).searchParams.get('error')]).toEqual([undefined, 'consent_required']);
    expect(await read(served, 'Observation?patient=1', body['access_token'])).toBe(403);
  });

  test('forms from another site are refused', async () => {
    const browser = openBrowser(served.auth);
    const { seen } = await authorize(served, { browser, scope: 'launch/patient launch/encounter patient/*.rs' });
    const [, uid = ''] = /interaction\/([\w-]+)/.exec(seen.at(-1)?.url ?? '') ?? [];
    const paths = ['login', 'apps/end', 'apps/logout'];
    const steps = ['login', 'patient', 'encounter', 'consent'].map(step => `interaction/${uid}/${step}`);
    for (const path of [...paths, ...steps])
      for (const headers of [{ origin: 'https://evil.example.org' }, { 'sec-fetch-site': 'cross-site' }])
        expect([path, (await browser.send(`${served.auth}/${path}`, [], headers)).status]).toEqual([path, 403]);
    expect((await browser.open(`${served.auth}/apps`)).html).toContain('Apps with access</h1>');
  });

  test('no page can be framed', async () => {
    const browser = openBrowser(served.auth);
    for (const path of ['apps', 'authorize', 'interaction/nothing', 'nothing', 'callback']) {
      const { headers } = await browser.open(`${served.auth}/${path}`);
      expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY']);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });
});

describe('answers are private to their caller', () => {
  test('also right after an equal request of a permitted caller', async () => {
    const [anna, bert] = await Promise.all(
      ['anna', 'bert'].map(async user => {
        const { body } = await launch(served, { user, scope: 'launch/patient patient/*.rs' });
        return String(body['access_token']);
      }),
    );
    const ask = (path: string, token: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${served.fhir}/${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
    for (let round = 0; round < 3; round++) {
      const own = await ask('Patient/1', anna);
      const etag = own.headers.get('etag') ?? '';
      expect([own.status, (await ask('Patient/1', bert)).status]).toEqual([200, 404]);
      expect((await ask('Patient/1', bert, { 'if-none-match': etag })).status).toBe(404);
      for (const question of [
        'Observation',
        'Patient',
        'Observation?_include=Observation:subject',
        'Patient?_total=accurate',
      ]) {
        const [mine, other] = await Promise.all([ask(question, anna), ask(question, bert)]);
        const [text, foreign] = [await mine.text(), await other.text()];
        expect(text).toContain('Patient/1');
        expect(foreign).not.toContain('Patient/1"');
        expect(other.headers.get('cache-control') ?? '').not.toContain('public');
      }
      for (const path of [
        'Patient/1/_history',
        'Patient/1/_history/1',
        'Patient/1/$everything',
        'Patient/1/Observation',
      ])
        expect([path, (await ask(path, bert)).status >= 400]).toEqual([path, true]);
    }
  });
});
