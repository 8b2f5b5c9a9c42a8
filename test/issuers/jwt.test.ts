/**
 * JWTs of an issuer: which are accepted, and which are refused as another issuer's, for another server, or at a wrong
 * time.
 */
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { COOL_DOWN } from '../../src/issuers/verify.ts';
import { heapAfterCollection } from '../heap.ts';
import { runsOf } from '../share.ts';
import { EXTENSION, type FakeIssuer, fakeIssuer, type Signing, seconds } from './fake-issuer.ts';
import { BASE, grantOf, type Opened, opened, statusOf } from './opened.ts';

let issuer: FakeIssuer;
beforeAll(async () => {
  issuer = await fakeIssuer();
});
afterAll(() => issuer.close());

const settings = ({ url }: FakeIssuer, more = ''): string => `
issuers:
  - issuer: ${url}
    audience: ${BASE}
    private-hosts: [127.0.0.1]
${more.replaceAll(/^/gm, '    ')}
`;

const GOOD: JWTPayload = { aud: BASE, sub: 'ada', azp: 'app', scope: 'openid patient/*.rs', patient: '1' };

/** An answer that a client does not expect unless it asked for an upgrade. */
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';

async function fresh(): Promise<FakeIssuer> {
  const made = await fakeIssuer();
  onTestFinished(() => made.close());
  return made;
}

test('a token has user, application and scopes', async () => {
  const now = Date.now();
  const grant = await grantOf(opened(settings(issuer)), await issuer.sign(GOOD), now);
  expect(grant).toEqual({
    subject: 'ada',
    client: 'app',
    issuer: issuer.url,
    scopes: ['openid', 'patient/*.rs'],
    patient: '1',
    expires: now + 300_000,
  });
});

describe('is refused', () => {
  let verifier: Opened;
  beforeAll(() => {
    verifier = opened(settings(issuer));
  });

  test.each<[title: string, claims: Readonly<Record<string, unknown>>, signing?: Signing]>([
    ['a token for another server', { aud: 'https://other.example.org/fhir' }],
    ['a token for an address that begins alike', { aud: `${BASE}/Patient` }],
    ['a token for several others', { aud: ['account', 'https://other.example.org/fhir'] }],
    ['a token without an audience', { aud: undefined }],
    ['a token of an unknown issuer', { iss: 'https://evil.example.org' }],
    ['a token of an issuer that is spelt almost alike', { iss: '/' }],
    ['a token that has expired', { exp: seconds() - 61 }],
    ['a token without an end', { exp: undefined }],
    ['a token that is not good yet', { nbf: seconds() + 90 }],
    ['a token that names no application', { azp: undefined }],
    ['a token that is bound to a key', { cnf: { jkt: 'thumbprint' } }],
    ['a header that must be understood and is not', {}, { header: { crit: [EXTENSION], [EXTENSION]: 1 } }],
  ])('%s', async (_title, claims, signing) => {
    const { url } = issuer;
    const iss = claims['iss'] === '/' ? { iss: `${url}/` } : {};
    expect(await grantOf(verifier, await issuer.sign({ ...GOOD, ...claims, ...iss }, signing))).toBeUndefined();
    expect(await grantOf(verifier, await issuer.sign(GOOD))).toBeDefined();
  });

  test('a token without a signature, in any spelling of `none`', async () => {
    const claims = { ...GOOD, iss: issuer.url, exp: seconds() + 300 };
    const none = new UnsecuredJWT(claims).encode();
    expect(await grantOf(verifier, none)).toBeUndefined();
    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      const head = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url');
      expect(await grantOf(verifier, `${head}.${none.split('.')[1]}.`), alg).toBeUndefined();
    }
    const [head, payload] = (await issuer.sign(GOOD)).split('.');
    expect(await grantOf(verifier, `${head}.${payload}.`)).toBeUndefined();
  });

  test('a token whose secret is the public key (algorithm confusion)', async () => {
    const { publicKey } = issuer;
    const secrets = [JSON.stringify(publicKey), JSON.stringify({ keys: [publicKey] }), publicKey.n ?? ''];
    for (const secret of secrets) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const key = new TextEncoder().encode(secret.padEnd(64, ' '));
        expect(await grantOf(verifier, await issuer.sign(GOOD, { alg, key }))).toBeUndefined();
      }
    }
  });

  test('a symmetric key that the issuer publishes by mistake', async () => {
    const own = await fresh();
    const secret = new TextEncoder().encode('s'.repeat(64));
    own.keys = [{ kty: 'oct', kid: 'one', k: Buffer.from(secret).toString('base64url') }];
    expect(await grantOf(opened(settings(own)), await own.sign(GOOD, { alg: 'HS256', key: secret }))).toBeUndefined();
  });

  test('a token of another issuer whose key has the same name', async () => {
    const other = await fresh();
    const forged = await other.sign({ ...GOOD, iss: issuer.url });
    expect(await grantOf(verifier, forged)).toBeUndefined();
    const both = opened(
      `${settings(issuer)}  - issuer: ${other.url}\n    audience: ${BASE}\n    private-hosts: [127.0.0.1]\n`,
    );
    expect(await grantOf(both, forged)).toBeUndefined();
    expect((await grantOf(both, await other.sign(GOOD)))?.issuer).toBe(other.url);
  });

  test.each(['jku', 'x5u'])('a token with the key address in %s, which is not fetched', async name => {
    const evil = await fresh();
    const token = await evil.sign(
      { ...GOOD, iss: issuer.url },
      { header: { [name]: `${evil.origin}/keys`, kid: 'x' } },
    );
    expect(await grantOf(verifier, token)).toBeUndefined();
    expect(evil.asked).toEqual({});
  });

  test('a token with an embedded key', async () => {
    const evil = await fresh();
    for (const header of [{ jwk: evil.publicKey }, { jwk: evil.publicKey, kid: 'unknown' }])
      expect(await grantOf(verifier, await evil.sign({ ...GOOD, iss: issuer.url }, { header }))).toBeUndefined();
  });

  test('a token with changed claims, and a text that is no token', async () => {
    const [head = '', payload = '', signature = ''] = (await issuer.sign(GOOD)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload;
    const other = Buffer.from(JSON.stringify({ ...claims, patient: '2' })).toString('base64url');
    const texts = [
      `${head}.${other}.${signature}`,
      `${head}.${payload}`,
      `${head}.${payload}.${signature}.x.y`,
      '',
      '..',
      'x',
    ];
    for (const alg of [1, {}, null, ['RS256'], '__proto__', 'RS1'])
      texts.push(`${Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url')}.${payload}.${signature}`);
    for (const kid of [1, {}, null, ['one'], 'x'.repeat(5000)])
      texts.push(`${Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url')}.${payload}.${signature}`);
    for (const text of ['null', '1', '[]', '"x"', `{"iss":${JSON.stringify(issuer.url)}}`])
      texts.push(`${head}.${Buffer.from(text).toString('base64url')}.${signature}`);
    for (const text of texts) expect(await grantOf(verifier, text), text.slice(0, 60)).toBeUndefined();
  });

  test('any combination of header, claims and signature, without a server error', async () => {
    const own = await fresh();
    const [elliptic, edwards] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('Ed25519')]);
    own.keys = [
      ...own.keys,
      { ...(await exportJWK(elliptic.publicKey)), kid: 'ec' },
      { ...(await exportJWK(edwards.publicKey)), kid: 'ed' },
    ];
    const other = opened(settings(own));
    const good = await own.sign(GOOD);
    const [head = '', payload = '', signature = ''] = good.split('.');
    const coded = (value: unknown): string => Buffer.from(JSON.stringify(value) ?? '{').toString('base64url');
    const claims = { iss: own.url, aud: BASE };
    const heads = fc
      .record({
        alg: fc.constantFrom('RS256', 'ES256', 'EdDSA', 'Ed25519', 'PS256', 'none', 'HS256', 1, null, {}, undefined),
        kid: fc.constantFrom('one', 'ec', 'ed', undefined, null, 1, '__proto__'),
        more: fc.constantFrom(
          {},
          { crit: [] },
          { crit: ['b64'], b64: false },
          { typ: 1 },
          { zip: 'DEF' },
          { enc: 'A256GCM' },
        ),
      })
      .map(({ alg, kid, more }) => coded({ alg, kid, ...more }));
    const payloads = [{ iss: own.url }, { ...claims, exp: 'x' }, { ...claims, exp: 9e9 }, { ...claims, exp: 1e300 }];
    const token = fc.tuple(
      fc.oneof(heads, fc.constantFrom(head, coded(null), coded([]), '')),
      fc.constantFrom(payload, `${payload}=`, coded(null), coded(undefined), ...payloads.map(coded)),
      fc.constantFrom(signature, '', 'x', 'A'.repeat(86), 'A'.repeat(342), signature.slice(1), '!!'),
    );
    await fc.assert(
      fc.asyncProperty(token, async parts => {
        const text = parts.join('.');
        expect((await grantOf(other, text)) !== undefined).toBe(text === good);
      }),
      { numRuns: runsOf(2000) },
    );
  });

  test('an algorithm that is not in the list, even asymmetric', async () => {
    const only = opened(settings(issuer, 'algorithms: [ES256]'));
    expect(await grantOf(only, await issuer.sign(GOOD))).toBeUndefined();
    expect(await grantOf(opened(settings(issuer, 'algorithms: [RS256]')), await issuer.sign(GOOD))).toBeDefined();
  });

  test('a key of another kind than the algorithm, or for encryption', async () => {
    const own = await fresh();
    const elliptic = await generateKeyPair('ES256');
    expect(
      await grantOf(opened(settings(own)), await own.sign(GOOD, { alg: 'ES256', key: elliptic.privateKey })),
    ).toBeUndefined();
    own.keys = own.keys.map(key => ({ ...key, use: 'enc' }));
    expect(await grantOf(opened(settings(own)), await own.sign(GOOD))).toBeUndefined();
  });
});

test('`typ` must match if the settings have it', async () => {
  const verifier = opened(settings(issuer, 'type: at+jwt'));
  expect(await grantOf(verifier, await issuer.sign(GOOD))).toBeUndefined();
  for (const typ of ['at+jwt', 'application/at+JWT'])
    expect(await grantOf(verifier, await issuer.sign(GOOD, { header: { typ } })), typ).toBeDefined();
  const { typ: _typ, ...head } = { typ: 'JWT', alg: 'RS256', kid: 'one' };
  const other = await generateKeyPair('RS256');
  expect(
    await grantOf(verifier, await new SignJWT(GOOD).setProtectedHeader(head).sign(other.privateKey)),
  ).toBeUndefined();
});

test('clock skew of 60 seconds, or as configured, is accepted', async () => {
  const late = await issuer.sign({ ...GOOD, exp: seconds() - 50 });
  const early = await issuer.sign({ ...GOOD, nbf: seconds() + 50 });
  for (const token of [late, early]) {
    const grant = await grantOf(opened(settings(issuer)), token);
    expect(grant?.expires).toBeGreaterThan(Date.now());
    expect(await grantOf(opened(settings(issuer, 'clock-skew: 10')), token)).toBeUndefined();
  }
});

test('claims that are required must have their value', async () => {
  const verifier = opened(settings(issuer, 'require: { tid: t1, typ: Bearer }'));
  expect(await grantOf(verifier, await issuer.sign({ ...GOOD, tid: 't1', typ: 'Bearer' }))).toBeDefined();
  for (const claims of [{ tid: 't2', typ: 'Bearer' }, { tid: 't1' }, { tid: 't1', typ: 'ID' }])
    expect(await grantOf(verifier, await issuer.sign({ ...GOOD, ...claims }))).toBeUndefined();
});

describe('keys', () => {
  test('are fetched once for simultaneous requests', async () => {
    const own = await fresh();
    const verifier = opened(settings(own));
    const token = await own.sign(GOOD);
    const grants = await Promise.all(Array.from({ length: 50 }, () => grantOf(verifier, token)));
    expect(grants.every(grant => grant !== undefined)).toBe(true);
    expect(own.asked).toEqual({ '/realms/clinic/.well-known/openid-configuration': 1, '/keys': 1 });
  });

  test('are fetched at most once per cool-down, however many unknown tokens come', async () => {
    const own = await fresh();
    const evil = await fresh();
    // The stopped clock keeps the cool-down from ending on a slow machine.
    const verifier = opened(settings(own), () => 0);
    const good = await own.sign(GOOD);
    expect(await grantOf(verifier, good)).toBeDefined();
    const forged = await evil.sign({ ...GOOD, iss: own.url });
    const [, payload = '', signature = ''] = forged.split('.');
    const held = heapAfterCollection();
    const before = held();
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        Array.from({ length: 500 }, async (_, i) => {
          const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: `kid-${round}-${i}` })).toString('base64url');
          expect(await grantOf(verifier, `${head}.${payload}.${signature}`)).toBeUndefined();
        }),
      );
    }
    expect(own.asked['/keys']).toBe(1);
    expect(evil.asked).toEqual({});
    expect(await grantOf(verifier, good)).toBeDefined();
    // None of 10,000 tokens of 700 characters stays in memory.
    expect(held() - before).toBeLessThan(3_000_000);
  });

  test('of a rotation are known after the cool-down', async () => {
    const own = await fresh();
    let now = 0;
    const verifier = opened(settings(own), () => now);
    const old = await own.sign(GOOD);
    expect(await grantOf(verifier, old)).toBeDefined();
    await own.rotate('two');
    const next = await own.sign(GOOD);
    expect(await grantOf(verifier, next)).toBeUndefined();
    now += COOL_DOWN;
    expect(await grantOf(verifier, next)).toBeDefined();
    expect(await grantOf(verifier, old)).toBeUndefined();
    expect(own.asked['/keys']).toBe(2);
  });

  test('that a token does not distinguish are tried, up to eight', async () => {
    const own = await fresh();
    const others = async (count: number): Promise<JWK[]> =>
      Promise.all(
        Array.from({ length: count }, async () => ({
          ...(await exportJWK((await generateKeyPair('RS256')).publicKey)),
          kid: 'one',
        })),
      );
    const evil = await fresh();
    const named = await own.sign(GOOD);
    const unnamed = await own.sign(GOOD, { header: { kid: undefined } });
    const forged = await evil.sign({ ...GOOD, iss: own.url });
    const late = await own.sign({ ...GOOD, exp: seconds() - 90 });
    for (const [before, isTaken] of [
      [1, true],
      [7, true],
      [8, false],
    ] as const) {
      own.keys = [...(await others(before)), own.publicKey];
      const verifier = opened(settings(own));
      for (const token of [named, unnamed]) expect((await grantOf(verifier, token)) !== undefined).toBe(isTaken);
      for (const token of [forged, late]) expect(await grantOf(verifier, token)).toBeUndefined();
    }
  });

  test('that cannot be fetched are an outage, not a refusal, and not fetched for each token', async () => {
    const own = await fresh();
    own.state = 'away';
    const verifier = opened(settings(own), () => 0);
    const token = await own.sign(GOOD);
    for (let i = 0; i < 50; i++)
      expect(await statusOf(grantOf(verifier, token))).toEqual({ status: 503, retryAfter: 5 });
    expect(Object.values(own.asked)).toEqual([1]);
    expect(verifier.lines).toHaveLength(1);
    expect(verifier.lines[0]).toContain(own.url);
    expect(verifier.lines.join()).not.toContain(token.slice(0, 20));
  });

  test('with a configured address are fetched every five seconds during an outage', async () => {
    const own = await fresh();
    own.state = 'broken';
    let now = 0;
    const verifier = opened(settings(own, `jwks: ${own.origin}/keys`), () => now);
    const token = await own.sign(GOOD);
    for (let i = 0; i < 50; i++) expect(await statusOf(grantOf(verifier, token))).toMatchObject({ status: 503 });
    expect(own.asked).toEqual({ '/keys': 1 });
    own.state = 'well';
    now += 6000;
    expect(await grantOf(verifier, token)).toBeDefined();
  });

  test('of more than 512 kB are refused', async () => {
    const own = await fresh();
    own.keys = [...own.keys, { kty: 'oct', kid: 'x', k: 'x'.repeat(600_000) }];
    expect(await statusOf(grantOf(opened(settings(own)), await own.sign(GOOD)))).toMatchObject({ status: 503 });
  });

  test.each<[title: string, metadata: Readonly<Record<string, unknown>>, state?: FakeIssuer['state']]>([
    ['metadata of another issuer', { issuer: 'https://other.example.org' }],
    ['metadata without keys', { jwks_uri: undefined }],
    ['metadata whose keys are elsewhere in this network', { jwks_uri: 'http://169.254.169.254/keys' }],
    ['metadata whose keys are on a private address', { jwks_uri: 'https://192.168.0.1/keys' }],
    ['metadata whose keys are in a file', { jwks_uri: 'file:///etc/passwd' }],
    ['an issuer that fails', {}, 'broken'],
  ])('are not fetched from %s', async (_title, metadata, state = 'well') => {
    const own = await fresh();
    own.metadata = metadata;
    own.state = state;
    expect(await statusOf(grantOf(opened(settings(own)), await own.sign(GOOD)))).toMatchObject({ status: 503 });
    expect(own.asked['/keys']).toBeUndefined();
  });

  test.each<[title: string, write: (response: ServerResponse) => void, reason: string]>([
    ['a page of HTML', response => response.end('<html></html>'), 'keys: not a JSON Web Key Set'],
    ['nothing', response => response.end(), 'keys: not a JSON Web Key Set'],
    ['a list of something else', response => response.end('{"keys":[1]}'), 'keys: not a JSON Web Key Set'],
    ['a change of the protocol', response => void response.socket?.write(SWITCHED), 'no whole answer'],
    ['half of them', response => void response.write('{"keys":[', () => response.destroy()), 'no whole answer'],
    ['more than may be read', response => response.end(' '.repeat(600_000)), 'too long an answer'],
  ])('that come as %s are an outage for five seconds, which the log names', async (_title, write, reason) => {
    const own = await fresh();
    let now = 0;
    const verifier = opened(settings(own, `jwks: ${own.origin}/keys`), () => now);
    const token = await own.sign(GOOD);
    own.answer = (url, response) => {
      if (url !== '/keys') return false;
      write(response);
      return true;
    };
    for (let i = 0; i < 3; i++)
      expect(await statusOf(grantOf(verifier, token))).toEqual({ status: 503, retryAfter: 5 });
    expect(own.asked).toEqual({ '/keys': 1 });
    expect(verifier.lines.map(line => (JSON.parse(line) as { reason: string }).reason)).toEqual([reason]);
    own.answer = () => false;
    now += 5000;
    expect(await grantOf(verifier, token)).toBeDefined();
  });

  test.each<[title: string, key: (own: FakeIssuer) => Promise<JWK> | JWK]>([
    ['is too short', ({ publicKey }) => ({ ...publicKey, n: publicKey.n?.slice(0, 170) ?? '' })],
    ['lacks its numbers', ({ publicKey: { n: _n, ...key } }) => key],
    [
      'is a private key',
      async () => ({
        ...(await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey)),
        kid: 'one',
      }),
    ],
  ])('of which one %s are an outage for its tokens, which the log names', async (_title, key) => {
    const own = await fresh();
    own.keys = [await key(own)];
    const verifier = opened(settings(own));
    expect(await statusOf(grantOf(verifier, await own.sign(GOOD)))).toEqual({ status: 503, retryAfter: 5 });
    expect(verifier.lines).toHaveLength(1);
    expect(verifier.lines[0]).toMatch(/"reason":"keys: one that /);
  });

  test('are fetched anew after an outage, whatever the clock was set to', async () => {
    const own = await fresh();
    own.state = 'away';
    let now = 0;
    const verifier = opened(settings(own), () => now);
    const token = await own.sign({ ...GOOD, exp: seconds() + 1e9, nbf: 0 });
    const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1e11);
    onTestFinished(() => wall.mockRestore());
    expect(await statusOf(grantOf(verifier, token))).toMatchObject({ status: 503 });
    wall.mockRestore();
    own.state = 'well';
    now += 5000;
    expect(await grantOf(verifier, token)).toBeDefined();
  });

  test('are not fetched through a redirect', async () => {
    const own = await fresh();
    const verifier = opened(settings(own, `jwks: ${own.origin}/moved`));
    expect(await statusOf(grantOf(verifier, await own.sign(GOOD)))).toMatchObject({ status: 503 });
    expect(own.asked).toEqual({ '/moved': 1 });
  });

  test('are fetched from a configured address without metadata', async () => {
    const own = await fresh();
    expect(await grantOf(opened(settings(own, `jwks: ${own.origin}/keys`)), await own.sign(GOOD))).toBeDefined();
    expect(own.asked).toEqual({ '/keys': 1 });
  });
});
