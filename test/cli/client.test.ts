import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { readAccounts } from '../../src/auth/accounts.ts';
import { run } from '../../src/cli/main.ts';
import { fitsSecret, readClients } from '../../src/smart/clients.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

async function lintel(...argv: readonly string[]) {
  const out: string[] = [];
  const notes: string[] = [];
  const code = await run(argv, {
    out: text => out.push(text),
    note: text => notes.push(text),
    environment: { DATA_DIR: folder },
    secret: async () => 'correct horse battery',
  });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}

const clients = () => readClients(join(folder, 'clients.json'));
const APP = ['--redirect', 'https://app.example.org/back', '--scope', 'openid launch/patient patient/*.rs'];

async function keyPair() {
  const { publicKey, privateKey } = await generateKeyPair('ES384', { extractable: true });
  return { public: await exportJWK(publicKey), private: { ...(await exportJWK(privateKey)), kid: 'one' } };
}

function file(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test('a public app is added, listed, disabled, enabled and removed', async () => {
  const more = [
    '--redirect',
    'com.example.app:/back',
    '--launch-url',
    'https://app.example.org/launch',
    '--name',
    'An app',
  ];
  expect(await lintel('client', 'add', 'app', '--public', ...APP, ...more)).toMatchObject({
    code: 0,
    out: 'app: added',
  });
  expect(clients()).toEqual([
    {
      ...{ id: 'app', name: 'An app', kind: 'public', disabled: false, introspects: false },
      redirects: ['https://app.example.org/back', 'com.example.app:/back'],
      launchUrl: 'https://app.example.org/launch',
      scopes: ['openid', 'launch/patient', 'patient/*.rs'],
      era: expect.any(String),
    },
  ]);
  expect((await lintel('client', 'list', '--json')).out).not.toContain('era');
  expect(statSync(join(folder, 'clients.json')).mode & 0o777).toBe(0o600);
  await lintel('client', 'disable', 'app');
  expect((await lintel('client', 'list')).out).toContain('app (public, disabled) An app');
  await lintel('client', 'enable', 'app');
  expect(clients()[0]?.disabled).toBe(false);
  await lintel('client', 'rm', 'app');
  expect(clients()).toEqual([]);
});

test('a secret is printed once and stored as a hash; a new one replaces it', async () => {
  const first = /^Secret: (\S{43})$/m.exec((await lintel('client', 'add', 'app', '--secret', ...APP)).out)?.[1] ?? '';
  expect(fitsSecret(first, clients()[0]?.secret ?? '')).toBe(true);
  expect(JSON.stringify(clients())).not.toContain(first);
  const second = /^Secret: (\S{43})$/m.exec((await lintel('client', 'rotate', 'app')).out)?.[1] ?? '';
  expect(fitsSecret(first, clients()[0]?.secret ?? '')).toBe(false);
  expect(fitsSecret(second, clients()[0]?.secret ?? '')).toBe(true);
});

test('a backend app with a key gets an assertion that a server verifies', async () => {
  const keys = await keyPair();
  const set = file('set.json', { keys: [keys.public] });
  expect((await lintel('client', 'add', 'back', '--jwks', set, '--scope', 'system/*.rs')).code).toBe(0);
  expect(clients()[0]).toMatchObject({ kind: 'key', jwks: { keys: [keys.public] }, redirects: [] });
  const key = file('key.json', keys.private);
  const url = 'https://lintel.example.org/auth/token';
  const { out } = await lintel('client', 'assertion', 'back', '--key', key, '--token-url', url);
  const { payload } = await jwtVerify(out, await importJWK(keys.public as JWK, 'ES384'), {
    issuer: 'back',
    audience: url,
  });
  expect(payload).toMatchObject({ sub: 'back', jti: expect.any(String) });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(300);
  const other = await keyPair();
  await lintel('client', 'rotate', 'back', '--jwks', file('other.json', { keys: [other.public] }));
  expect(clients()[0]?.jwks?.keys).toEqual([other.public]);
});

test.each<[title: string, argv: readonly string[], note: RegExp]>([
  ['no credentials', ['app', ...APP], /one of --public/],
  ['two kinds of them', ['app', '--public', '--secret', ...APP], /one of --public/],
  ['an id that needs encoding', ['a b', '--public', ...APP], /An id has/],
  ['http elsewhere', ['app', '--public', '--redirect', 'http://app.example.org/', '--scope', 'openid'], /--redirect/],
  ['a script as redirect', ['app', '--public', '--redirect', 'javascript:alert(1)', '--scope', 'openid'], /--redirect/],
  ['a fragment', ['app', '--public', '--redirect', 'https://a.example.org/#x', '--scope', 'openid'], /--redirect/],
  ['no redirect', ['app', '--public', '--scope', 'patient/*.rs'], /--redirect: expected/],
  ['no scope', ['app', '--public', '--redirect', 'https://a.example.org/'], /--scope: expected/],
  ['a scope that writes', ['app', '--public', ...APP.slice(0, 3), 'patient/*.write'], /Lintel only reads/],
  ['an unknown scope', ['app', '--public', ...APP.slice(0, 3), 'email'], /no scope that can be granted/],
  [
    'system scopes without a credential',
    ['app', '--public', ...APP.slice(0, 3), 'system/*.rs'],
    /system\/ scopes need/,
  ],
  [
    'keys at an http address',
    ['app', '--jwks-url', 'http://a.example.org/k', '--scope', 'system/*.rs'],
    /https address/,
  ],
  ['keys of a file that is not there', ['app', '--jwks', '/nowhere', '--scope', 'system/*.rs'], /--jwks: expected/],
])('an app is refused with %s', async (_title, argv, note) => {
  const { code, notes } = await lintel('client', 'add', ...argv);
  expect([code, notes]).toEqual([1, expect.stringMatching(note)]);
  expect(clients()).toEqual([]);
});

test('a private key is refused as a public key', async () => {
  const { private: key } = await keyPair();
  const { code, notes } = await lintel(
    'client',
    'add',
    'b',
    '--jwks',
    file('s.json', { keys: [key] }),
    '--scope',
    'system/*.rs',
  );
  expect([code, notes]).toEqual([1, expect.stringContaining('public RSA or P-384 keys')]);
});

test('an existing app cannot be added, a missing one not changed', async () => {
  await lintel('client', 'add', 'app', '--public', ...APP);
  expect(await lintel('client', 'add', 'app', '--public', ...APP)).toMatchObject({ code: 1 });
  expect(await lintel('client', 'disable', 'other')).toMatchObject({ code: 1, notes: 'There is no client other.' });
  expect(await lintel('client', 'rotate', 'app')).toMatchObject({
    code: 1,
    notes: 'A public client has no credentials.',
  });
  expect((await lintel('client', 'nonsense', 'app')).code).toBe(2);
});

test('keys are made and rotated, and listed newest first', async () => {
  expect((await lintel('keys', 'list')).notes).toContain('There are no keys');
  const [first] = (await lintel('keys', 'rotate')).out.split('\n');
  const second = (await lintel('keys', 'rotate')).out.split('\n');
  expect(second).toEqual([expect.any(String), first]);
  await lintel('keys', 'rotate');
  await lintel('keys', 'rotate');
  const all = (await lintel('keys', 'list')).out.split('\n');
  expect(all).toHaveLength(3);
  expect(all).not.toContain(first);
  expect(statSync(join(folder, 'keys.json')).mode & 0o777).toBe(0o600);
});

test('an account references the resource of its person', async () => {
  const accounts = () => readAccounts(join(folder, 'accounts.json'));
  expect((await lintel('user', 'add', 'anna', '--fhir-user', 'Patient/1')).code).toBe(0);
  expect((await lintel('user', 'list')).out).toBe('anna Patient/1');
  await lintel('user', 'link', 'anna', '--fhir-user', 'Practitioner/7');
  expect(accounts()[0]?.fhirUser).toBe('Practitioner/7');
  await lintel('user', 'passwd', 'anna');
  expect(accounts()[0]?.fhirUser).toBe('Practitioner/7');
  const wrong = await lintel('user', 'link', 'anna', '--fhir-user', 'https://elsewhere.example.org/Patient/1');
  expect([wrong.code, accounts()[0]?.fhirUser]).toEqual([1, 'Practitioner/7']);
});
