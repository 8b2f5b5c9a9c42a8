/** Opaque tokens: what the issuer answers, how often it is asked, and what happens while it does not answer. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { type FakeIssuer, fakeIssuer, seconds } from './fake-issuer.ts';
import { BASE, grantOf, type Opened, opened, statusOf } from './opened.ts';

const SECRET = 'a secret: with % and ü';

function fileWith(text: string): string {
  const folder = temporaryFolder();
  const file = join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

async function started(
  more = `client: lin:tel\n      secret-file: ${fileWith(`${SECRET}\n`)}`,
  clock?: () => number,
): Promise<{ issuer: FakeIssuer; verifier: Opened }> {
  const issuer = await fakeIssuer();
  onTestFinished(() => issuer.close());
  const text = `issuers:
  - issuer: ${issuer.url}
    audience: ${BASE}
    private-hosts: [127.0.0.1]
    introspection:
      ${more}
`;
  return { issuer, verifier: opened(text, clock) };
}

const ACTIVE = { active: true, aud: BASE, client_id: 'app', sub: 'ada', scope: 'patient/*.rs', patient: '1' };

test('an active token is valid for ten seconds or until it expires', async () => {
  const { issuer, verifier } = await started();
  const now = Date.now();
  issuer.active.set('opaque', ACTIVE);
  expect(await grantOf(verifier, 'opaque', now)).toEqual({
    ...{ subject: 'ada', client: 'app', issuer: issuer.url, scopes: ['patient/*.rs'], patient: '1' },
    expires: now + 10_000,
  });
  const soon = seconds() - 58;
  issuer.active.set('ends', { ...ACTIVE, exp: soon });
  expect((await grantOf(verifier, 'ends', now))?.expires).toBe((soon + 60) * 1000);
});

test('the request authenticates the client, and has the token in the body only', async () => {
  const { issuer, verifier } = await started();
  await grantOf(verifier, 'opaque');
  const [question] = issuer.questions;
  expect(Object.fromEntries(question?.body ?? [])).toEqual({ token: 'opaque', token_type_hint: 'access_token' });
  const credentials = Buffer.from((question?.authorization ?? '').replace('Basic ', ''), 'base64').toString();
  expect(credentials).toBe('lin%3Atel:a+secret%3A+with+%25+and+%C3%BC');
  expect(Object.keys(issuer.asked).join()).not.toContain('opaque');
});

test('the client secret can be sent in the form', async () => {
  const { issuer, verifier } = await started(
    `client: lintel\n      send: post\n      secret-file: ${fileWith(SECRET)}`,
  );
  await grantOf(verifier, 'opaque');
  expect(issuer.questions[0]?.authorization).toBeUndefined();
  expect(issuer.questions[0]?.body.get('client_secret')).toBe(SECRET);
});

test('a client key signs an assertion that is valid for a minute and one use', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES384', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'ES384', kid: 'k1' };
  const { issuer, verifier } = await started(`client: lintel\n      key-file: ${fileWith(JSON.stringify(key))}`);
  await grantOf(verifier, 'one');
  await grantOf(verifier, 'two');
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES384', kid: 'k1' }] });
  const claims = await Promise.all(
    issuer.questions.map(async ({ body }) => {
      const options = { issuer: 'lintel', subject: 'lintel', audience: issuer.url };
      return (await jwtVerify(body.get('client_assertion') ?? '', keys, options)).payload;
    }),
  );
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2);
  for (const { exp = 0, iat = 0 } of claims) expect(exp - iat).toBe(60);
});

test.each<[title: string, answer: Readonly<Record<string, unknown>>]>([
  ['is not active', { active: false }],
  ['is active as a text', { active: 'true' }],
  ['is for another server', { aud: 'https://other.example.org' }],
  ['has no audience', { aud: undefined }],
  ['is of another issuer', { iss: 'https://other.example.org' }],
  ['has ended', { exp: seconds() - 61 }],
  ['has an end that is no time', { exp: 'tomorrow' }],
  ['is not good yet', { nbf: seconds() + 90 }],
  ['is bound to a key', { cnf: { jkt: 'x' } }],
  ['is of another kind', { token_type: 'DPoP' }],
  ['names no application', { client_id: undefined }],
])('a token that %s is refused', async (_title, answer) => {
  const { issuer, verifier } = await started();
  issuer.active.set('opaque', { ...ACTIVE, ...answer });
  expect(await grantOf(verifier, 'opaque')).toBeUndefined();
});

test('a token is introspected once for simultaneous requests, and again after its cache time', async () => {
  const { issuer, verifier } = await started();
  issuer.active.set('opaque', ACTIVE);
  const now = Date.now();
  await Promise.all(Array.from({ length: 100 }, () => grantOf(verifier, 'opaque', now)));
  await Promise.all(Array.from({ length: 100 }, () => grantOf(verifier, 'unknown', now)));
  expect(await grantOf(verifier, 'unknown', now + 9_999)).toBeUndefined();
  expect(issuer.questions).toHaveLength(2);
  issuer.active.clear();
  expect(await grantOf(verifier, 'opaque', now + 9_999)).toBeDefined();
  expect(await grantOf(verifier, 'opaque', now + 10_001)).toBeUndefined();
  expect(issuer.questions).toHaveLength(3);
});

test('a flood of unknown tokens sends fifty requests at a time, and known tokens still work', async () => {
  const { issuer, verifier } = await started();
  issuer.active.set('opaque', ACTIVE);
  const now = Date.now();
  expect(await grantOf(verifier, 'opaque', now)).toBeDefined();
  issuer.slow = 300;
  const flood = Array.from({ length: 10_000 }, (_, i) => statusOf(grantOf(verifier, `unknown-${i}`, now)));
  const during = grantOf(verifier, 'opaque', now + 20_000);
  expect(await during).toBeDefined();
  const ends = await Promise.all(flood);
  expect(ends.filter(end => end === 'no error')).toHaveLength(50);
  expect(ends.find(end => end !== 'no error')).toEqual({ status: 503, retryAfter: 1 });
  expect(issuer.questions.length).toBe(52);
});

test.each(['away', 'broken'] as const)('an issuer that is %s is an outage, and no token is accepted', async state => {
  const { issuer, verifier } = await started();
  issuer.active.set('opaque', ACTIVE);
  const now = Date.now();
  expect(await grantOf(verifier, 'opaque', now)).toBeDefined();
  issuer.state = state;
  expect(await statusOf(grantOf(verifier, 'opaque', now + 10_001))).toMatchObject({ status: 503 });
  expect(await statusOf(grantOf(verifier, 'other', now))).toMatchObject({ status: 503 });
  expect(verifier.lines).toHaveLength(1);
  expect(verifier.lines.join()).not.toMatch(/opaque|other/);
});

test('an invalid introspection answer is an outage for that token alone', async () => {
  const { issuer, verifier } = await started();
  issuer.active.set('odd', ['active']);
  issuer.active.set('opaque', ACTIVE);
  expect(await statusOf(grantOf(verifier, 'odd'))).toEqual({ status: 503, retryAfter: 5 });
  // The verifier keeps thousands of answers, so each must be short.
  issuer.active.set('long', { ...ACTIVE, note: 'x'.repeat(33_000) });
  expect(await statusOf(grantOf(verifier, 'long'))).toEqual({ status: 503, retryAfter: 5 });
  expect(await grantOf(verifier, 'opaque')).toBeDefined();
});

test('with `jwt: true` JWTs are introspected after their signature is verified', async () => {
  const { issuer, verifier } = await started(`client: x\n      jwt: true\n      secret-file: ${fileWith(SECRET)}`);
  const now = Date.now();
  const token = await issuer.sign({ aud: BASE, sub: 'ada', azp: 'app', scope: 'user/*.rs' });
  issuer.active.set(token, { active: true, aud: BASE, patient: '1', scope: 'patient/*.rs' });
  expect(await grantOf(verifier, token, now)).toEqual({
    ...{ subject: 'ada', client: 'app', issuer: issuer.url, scopes: ['patient/*.rs'], patient: '1' },
    expires: now + 10_000,
  });
  issuer.active.clear();
  expect(await grantOf(verifier, token, now + 10_001)).toBeUndefined();
  expect(issuer.questions).toHaveLength(2);
  const [head, payload] = token.split('.');
  const forged = `${head}.${payload}.${'x'.repeat(342)}`;
  issuer.active.set(forged, ACTIVE);
  expect(await grantOf(verifier, forged, now)).toBeUndefined();
  expect(issuer.questions).toHaveLength(2);
  issuer.state = 'away';
  expect(await statusOf(grantOf(verifier, token, now + 30_000))).toMatchObject({ status: 503 });
});

test('without introspection a token that is no JWT is refused without a request', async () => {
  const issuer = await fakeIssuer();
  onTestFinished(() => issuer.close());
  const verifier = opened(`issuers:\n  - { issuer: "${issuer.url}", audience: x, private-hosts: [127.0.0.1] }\n`);
  expect(await grantOf(verifier, 'opaque')).toBeUndefined();
  expect(issuer.asked).toEqual({});
});

test('a clock that is set back does not prolong a cached answer', async () => {
  let now = 0;
  const { issuer, verifier } = await started(undefined, () => now);
  issuer.active.set('opaque', ACTIVE);
  expect(await grantOf(verifier, 'opaque')).toBeDefined();
  issuer.active.clear();
  const longAgo = Date.now() - 1e10;
  now += 9_999;
  expect(await grantOf(verifier, 'opaque', longAgo)).toBeDefined();
  now += 1;
  expect(await grantOf(verifier, 'opaque', longAgo)).toBeUndefined();
});
