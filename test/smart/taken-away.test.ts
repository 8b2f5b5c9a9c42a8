/**
 * Access that `lintel user` or `lintel client` withdraws from a person or an app stays withdrawn after they are added
 * again.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readAccounts, writeAccounts } from '../../src/auth/accounts.ts';
import { newEra } from '../../src/auth/era.ts';
import { run } from '../../src/cli/main.ts';
import { rowsOf } from '../audit/records.ts';
import { boxes, formAction, openBrowser } from './browser.ts';
import {
  assertionOf,
  authorize,
  launch,
  PASSWORD,
  post,
  REDIRECT,
  read,
  redeem,
  type Served,
  serveSmart,
} from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

type Command = readonly string[];

/** Runs commands together: the server handles no request in between. */
async function command(...commands: readonly Command[]): Promise<void> {
  const notes: string[] = [];
  const environment = { DATA_DIR: served.folder };
  const terminal = {
    out: () => {},
    note: (text: string) => notes.push(text),
    secret: async () => PASSWORD,
    environment,
  };
  for (const argv of commands) expect([await run(argv, terminal), notes]).toEqual([0, []]);
}

const READD_APP = [
  'client',
  'add',
  'public',
  '--public',
  '--redirect',
  REDIRECT,
  '--scope',
  'launch/patient patient/Patient.rs',
];

test.each<readonly [name: string, commands: readonly Command[]]>([
  [
    'an app is disabled and enabled',
    [
      ['client', 'disable', 'public'],
      ['client', 'enable', 'public'],
    ],
  ],
  ['an app is removed and added with less', [['client', 'rm', 'public'], READD_APP]],
  [
    'a person is disabled and enabled',
    [
      ['user', 'disable', 'anna'],
      ['user', 'enable', 'anna'],
    ],
  ],
  [
    'a person is removed and added',
    [
      ['user', 'rm', 'anna'],
      ['user', 'add', 'anna', '--fhir-user', 'Patient/1'],
    ],
  ],
  ['a password is changed', [['user', 'passwd', 'anna']]],
  [
    'an account is linked to another resource and back',
    [
      ['user', 'link', 'anna', '--fhir-user', 'Patient/2'],
      ['user', 'link', 'anna', '--fhir-user', 'Patient/1'],
    ],
  ],
])('tokens, refresh tokens, codes and sessions end when %s', async (_name, commands) => {
  served.setClients(served.clients);
  await vi.waitFor(async () => expect((await launch(served)).status).toBe(200), 60_000);
  const browser = openBrowser(served.auth);
  const { body } = await launch(served, { browser });
  const code = await authorize(served, { browser });
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  await command(...commands);
  await vi.waitFor(async () => expect(await read(served, 'Patient/1', body['access_token'])).toBe(401), 60_000);
  const refreshed = await post(`${served.auth}/token`, {
    ...{ grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' },
  });
  expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect(await redeem(served, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  const apps = await browser.open(`${served.auth}/apps`);
  expect(apps.html).not.toContain('name="grant"');
  const isPerson = commands.some(([kind]) => kind === 'user');
  expect(apps.html.includes('name="password"')).toBe(isPerson);
});

/** Like `lintel user`, immediately. */
function beginEra(name: string): void {
  const file = join(served.folder, 'accounts.json');
  const accounts = readAccounts(file);
  writeAccounts(
    file,
    accounts.map(one => (one.name === name ? { ...one, era: newEra() } : one)),
  );
}

test('a login that continues after a change of the password has to start again', async () => {
  const browser = openBrowser(served.auth);
  const { seen } = await authorize(served, { browser, user: 'nobody' });
  const [form] = seen;
  if (form === undefined) throw new Error('no page asked for a password');
  const login = await fetch(formAction(form, '/login'), {
    method: 'POST',
    headers: {
      origin: new URL(served.auth).origin,
      cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    body: new URLSearchParams({ username: 'bert', password: PASSWORD }),
    redirect: 'manual',
  });
  expect(login.status).toBe(303);
  beginEra('bert');
  const next = await browser.open(login.headers.get('location') ?? '');
  expect([next.status, next.html.includes('name="password"')]).toEqual([200, true]);
});

test('an open consent page grants nothing after a change of the password', async () => {
  const { code, page } = await authorize(served, {
    user: 'bert',
    tick(consent) {
      beginEra('bert');
      return boxes(consent, 'scope');
    },
  });
  expect([code, page.status]).toEqual([undefined, 400]);
  expect(
    rowsOf(join(served.folder, 'smart.sqlite'), "SELECT 1 FROM entry WHERE kind = 'Context' AND account = 'bert'"),
  ).toEqual([]);
});

test('tokens of a program end when it is disabled and enabled', async () => {
  const credentials = { grant_type: 'client_credentials', scope: 'system/*.rs' };
  const get = async () => post(`${served.auth}/token`, { ...credentials, ...(await assertionOf(served, 'backend')) });
  const { body } = await get();
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  await command(['client', 'disable', 'backend'], ['client', 'enable', 'backend']);
  await vi.waitFor(async () => expect(await read(served, 'Patient/1', body['access_token'])).toBe(401), 60_000);
  expect(await read(served, 'Patient/1', (await get()).body['access_token'])).toBe(200);
});

test('a new secret of an app ends no token', async () => {
  const { body } = await launch(served, { client: 'secret' });
  await command(['client', 'rotate', 'secret']);
  await new Promise(resolve => setTimeout(resolve, 1200));
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
});
