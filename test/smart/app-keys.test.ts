/**
 * Keys that apps publish at their JWKS URLs: how often they are fetched, how soon a new key counts and a removed one no
 * longer does, and what an app's own server can do to this one.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openAppKeys } from '../../src/smart/app-keys.ts';
import { type AssertionOptions, assertionOf, post, type Served, serveSmart } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

/** Serves what `answer` returns; counts the requests. */
async function publish(answer: () => { readonly status?: number; readonly text: string }) {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    const { status = 200, text } = answer();
    // A year: an app must not decide for how long a removed key counts.
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=31536000' }).end(text);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, asked: () => asked };
}

function useUrl(jwksUrl: string): void {
  served.setClients(
    served.clients.map(({ jwks, ...client }) =>
      client.id === 'backend' ? { ...client, jwksUrl } : { ...client, ...(jwks && { jwks }) },
    ),
  );
  onTestFinished(() => served.setClients(served.clients));
}

const ownKeys = () => served.clients.find(({ id }) => id === 'backend')?.jwks?.keys ?? [];

async function token(options: AssertionOptions = {}): Promise<readonly [status: number, error: unknown]> {
  const claims = { jti: randomUUID(), ...options.claims };
  const assertion = await assertionOf(served, 'backend', { ...options, claims });
  const fields = { grant_type: 'client_credentials', scope: 'system/*.rs', ...assertion };
  const { status, body } = await post(`${served.auth}/token`, fields);
  return [status, body['error']];
}

describe('a JWKS URL', () => {
  test.each([
    ['fails', () => ({ status: 500, text: '' })],
    ['has no keys', () => ({ text: '{"keys":[]}' })],
    ['has no JSON', () => ({ text: 'keys' })],
    ['nests deeply', () => ({ text: `{"keys":[{"kty":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}` })],
    ['has a private key', () => ({ text: JSON.stringify({ keys: [served.keys.RS384] }) })],
  ])('that %s is fetched once for many assertions, and none of them is accepted', async (_title, answer) => {
    const { url, asked } = await publish(answer);
    useUrl(url);
    for (let i = 0; i < 5; i++) expect(await token()).toEqual([401, 'invalid_client']);
    expect(asked()).toBe(1);
  });

  test('is not fetched for requests without an assertion', async () => {
    const { url, asked } = await publish(() => ({ text: '{"keys":[]}' }));
    useUrl(url);
    expect(
      (await post(`${served.auth}/token`, { grant_type: 'client_credentials', client_id: 'backend' })).status,
    ).toBe(401);
    expect(asked()).toBe(0);
  });

  test('is fetched once for many valid assertions', async () => {
    const { url, asked } = await publish(() => ({ text: JSON.stringify({ keys: ownKeys() }) }));
    useUrl(url);
    for (let i = 0; i < 5; i++) expect(await token()).toEqual([200, undefined]);
    expect(asked()).toBe(1);
  });
});

describe('keys of an app over time', () => {
  const URL = 'https://app.example.org/keys';
  const opened = () => {
    let [now, asked] = [0, 0];
    let answer: JWK[] | undefined;
    const failures: unknown[] = [];
    const keys = openAppKeys({
      privateHosts: false,
      failed: error => failures.push(error),
      clock: () => now,
      asker: () => async () => {
        asked++;
        return answer === undefined
          ? new Response(null, { status: 503 })
          : new Response(JSON.stringify({ keys: answer }), { status: 200 });
      },
    });
    return {
      failures,
      asked: () => asked,
      publish(...next: JWK[]) {
        answer = next;
      },
      fail() {
        answer = undefined;
      },
      pass(seconds: number) {
        now += seconds * 1000;
      },
      names: async () => {
        await keys.refresh(URL);
        return keys.known(URL).map(({ kid }) => kid);
      },
    };
  };
  const key = async (kid: string): Promise<JWK> => ({
    ...(await exportJWK((await generateKeyPair('ES384')).publicKey)),
    kid,
  });

  test('a new key counts after half a minute, and so does the removal of an old one', async () => {
    const app = opened();
    app.publish(await key('old'));
    expect(await app.names()).toEqual(['old']);
    app.publish(await key('new'));
    app.pass(29);
    expect([await app.names(), app.asked()]).toEqual([['old'], 1]);
    app.pass(2);
    expect([await app.names(), app.asked()]).toEqual([['new'], 2]);
    app.publish();
    app.pass(31);
    expect(await app.names()).toEqual([]);
  });

  test('while the URL fails, it is asked every five seconds; the last keys count for an hour', async () => {
    const app = opened();
    app.publish(await key('old'));
    await app.names();
    app.fail();
    app.pass(31);
    for (let i = 0; i < 10; i++) expect(await app.names()).toEqual(['old']);
    expect([app.asked(), app.failures.length]).toEqual([2, 1]);
    app.pass(6);
    expect([await app.names(), app.asked()]).toEqual([['old'], 3]);
    app.pass(3600);
    expect(await app.names()).toEqual([]);
    app.publish(await key('new'));
    app.pass(6);
    expect(await app.names()).toEqual(['new']);
  });

  test('keeps of a key what verification needs, and of a set no more than 50 keys', async () => {
    const app = opened();
    const good = await key('good');
    const [wide, long] = [
      { ...good, x5c: ['x'.repeat(1e5)] },
      { ...good, kid: 'x'.repeat(1e5) },
    ];
    app.publish(wide as JWK, long, { kty: 'oct', k: 'c2VjcmV0' }, ...Array.from({ length: 80 }, () => good));
    expect((await app.names()).length).toBeLessThanOrEqual(50);
    expect(JSON.stringify(await app.names()).length).toBeLessThan(1000);
  });
});

test.each([1000, 20_000])('an assertion whose claims nest %i levels deep is refused', async levels => {
  const { kid = '', ...key } = served.keys.ES384;
  const now = Math.floor(Date.now() / 1000);
  const claims = JSON.stringify({ iss: 'backend', sub: 'backend', aud: `${served.auth}/token`, exp: now + 200 });
  const text = claims.replace(/}$/, `,"jti":"${randomUUID()}","more":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  const signed = new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'ES384', kid });
  const fields = {
    ...{ grant_type: 'client_credentials', scope: 'system/*.rs' },
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signed.sign(await importJWK(key, 'ES384')),
  };
  const { status, body } = await post(`${served.auth}/token`, fields);
  expect([status, body['error']]).toEqual([400, 'invalid_request']);
  expect(served.lines.filter(line => line.includes('"level":"error"'))).toEqual([]);
});

test('an assertion whose header nests deeply is refused', async () => {
  const more: unknown = JSON.parse('['.repeat(1000) + ']'.repeat(1000));
  expect(await token({ header: { more } })).toEqual([400, 'invalid_request']);
});
