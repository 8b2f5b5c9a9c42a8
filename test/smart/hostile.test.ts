/**
 * Attacks on a whole server: guessed passwords, forms and frames of other sites, stolen files, forged URLs, foreign
 * keys; and what must survive a restart, or end at once.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readAccounts, writeAccounts } from '../../src/auth/accounts.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { readKeys, rotateKeys } from '../../src/smart/keys.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { formAction, openBrowser } from './browser.ts';
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
  SECRET,
  type Served,
  serveRestartable,
  serveSmart,
} from './served.ts';

describe('a server', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveSmart();
  });
  afterAll(() => served.stop());

  const login = (name: string, password: string, headers?: Readonly<Record<string, string>>) =>
    openBrowser(served.auth).send(
      `${served.auth}/login`,
      [
        ['username', name],
        ['password', password],
      ],
      headers,
    );

  test('gives the same answer for a wrong password, an unknown and a disabled account', async () => {
    const pages = await Promise.all([login('anna', 'wrong'), login('nobody', PASSWORD), login('gone', PASSWORD)]);
    const texts = pages.map(({ status, html }) => [status, html.replace(/value="(anna|nobody|gone)"/, '')]);
    expect(texts[0]?.[0]).toBe(401);
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[2]).toEqual(texts[0]);
  });

  test('throttles guesses for one account, without affecting others', async () => {
    for (let i = 0; i < 5; i++) await login('bert', `guess ${i}`);
    const waiting = await login('bert', PASSWORD);
    expect([waiting.status, /Try again in \d+ s/.test(waiting.html)]).toEqual([429, true]);
    expect((await login('anna', PASSWORD)).html).toContain('Apps with access');
  });

  test.each<[title: string, headers: Readonly<Record<string, string>>]>([
    ['another origin', { origin: 'https://evil.example.org' }],
    ['an origin that is hidden', { origin: 'null' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['another server of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('refuses a form from %s', async (_title, headers) => {
    const page = await login('anna', PASSWORD, headers);
    expect([page.status, page.html.includes('sent from another site')]).toEqual([403, true]);
    const browser = openBrowser(served.auth);
    const { code, seen } = await authorize(served, { browser, decision: 'deny' });
    expect(code).toBeUndefined();
    const consent = seen.at(-1);
    if (consent === undefined) throw new Error('no page');
    expect((await browser.send(formAction(consent, '/consent'), [['decision', 'allow']], headers)).status).toBe(403);
  });

  test('continues a login only in the browser that began it', async () => {
    const { seen } = await authorize(served, { user: 'nobody' });
    const [page] = seen;
    if (page === undefined) throw new Error('no page');
    const other = openBrowser(served.auth);
    const answer = await other.send(formAction(page, '/login'), [
      ['username', 'anna'],
      ['password', PASSWORD],
    ]);
    expect([answer.status, answer.html.includes('This page has expired')]).toEqual([400, true]);
  });

  test('cannot be framed, and its pages load nothing from elsewhere', async () => {
    const { seen } = await authorize(served);
    for (const { headers } of seen) {
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('shows a readable page for 404', async () => {
    const page = await openBrowser(served.auth).open(`${served.auth}/nothing`);
    expect([page.status, page.html.includes('there is no such page')]).toEqual([404, true]);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  });

  test('escapes the name of an app', async () => {
    const { seen } = await authorize(served);
    expect(seen.map(({ html }) => html).join()).toContain('Growth &lt;chart&gt;');
    expect(seen.map(({ html }) => html).join()).not.toContain('<chart>');
  });

  test('sets HttpOnly and SameSite cookies', async () => {
    const response = await fetch(`${served.auth}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(served.auth).origin },
      body: new URLSearchParams({ username: 'anna', password: PASSWORD }),
      redirect: 'manual',
    });
    const cookies = response.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/path=\/auth;.*samesite=lax; httponly/i);
  });

  test('refuses a cookie that it did not sign', async () => {
    const browser = openBrowser(served.auth);
    await browser.send(`${served.auth}/login`, [
      ['username', 'anna'],
      ['password', PASSWORD],
    ]);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const ask = async (sent: string) => (await fetch(`${served.auth}/apps`, { headers: { cookie: sent } })).text();
    expect(await ask(cookie)).toContain('Apps with access</h1>');
    const forged = cookie.replace(/\.sig=(.)/, (_, first) => `.sig=${first === '_' ? '-' : '_'}`);
    expect(await ask(forged)).toContain('Log in</h1>');
  });

  test('uses its own URLs, whatever Host and proxy headers have', async () => {
    const { port } = new URL(served.base);
    const headers = { 'x-forwarded-host': 'evil.example.org', 'x-forwarded-proto': 'https', forwarded: 'host=evil' };
    const response = await fetch(`http://localhost:${port}/auth/.well-known/openid-configuration`, { headers });
    const text = await response.text();
    expect(text).toContain(`"token_endpoint":"${served.auth}/token"`);
    expect(text).not.toContain('evil');
  });

  test('accepts its loopback names as audience, and no other URL', async () => {
    const { port } = new URL(served.base);
    const ask = async (aud: string) => (await authorize(served, { parameters: { aud } })).code !== undefined;
    expect(await ask(`http://localhost:${port}/fhir/`)).toBe(true);
    expect(await ask(`http://localhost:${port}/fhir/Patient`)).toBe(false);
    expect(await ask('http://localhost:1/fhir')).toBe(false);
    expect(await ask(`http://localhost.evil.example:${port}/fhir`)).toBe(false);
  });

  test.each([
    ['a body that is too long', 'x='.padEnd(70_000, 'x'), 'application/x-www-form-urlencoded'],
    ['a body that is no form', '{}', 'application/json'],
  ])('refuses %s', async (_title, body, type) => {
    for (const path of ['token', 'introspect', 'authorize', 'login']) {
      const init = { method: 'POST', headers: { 'content-type': type }, body };
      expect([400, 413]).toContain((await fetch(`${served.auth}/${path}`, init)).status);
    }
  });

  test('reports no failure if a client disconnects before its form has arrived', async () => {
    const { hostname, port, host } = new URL(served.base);
    for (const path of ['login', 'token', 'interaction/x/login', 'launch']) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const head = [`POST /auth/${path} HTTP/1.1`, `Host: ${host}`, 'Content-Type: application/x-www-form-urlencoded'];
      socket.write([...head, 'Content-Length: 1000', '', 'username=a'].join('\r\n'));
      await wait(100);
      socket.resetAndDestroy();
    }
    await wait(300);
    expect(served.lines.filter(line => line.includes('"level":"error"'))).toEqual([]);
  });

  test('refuses repeated parameters', async () => {
    const query = new URLSearchParams({ client_id: 'public', redirect_uri: REDIRECT, response_type: 'code' });
    query.append('client_id', 'secret');
    expect((await openBrowser(served.auth).open(`${served.auth}/authorize?${query}`)).status).toBe(400);
  });

  test('stores no token, secret or user input in plain text in files or the log', async () => {
    const done = await authorize(served, { client: 'secret' });
    const { body } = await redeem(served, done, {}, BASIC);
    const names = readdirSync(served.folder).filter(name => !statSync(join(served.folder, name)).isDirectory());
    for (const name of names.filter(one => /^(smart|clients|keys|accounts)/.test(one)))
      expect([name, statSync(join(served.folder, name)).mode & 0o077]).toEqual([name, 0]);
    const files = names.map(name => readFileSync(join(served.folder, name), 'latin1')).join();
    const lines = served.lines.join();
    for (const secret of [body['access_token'], body['refresh_token'], done.code, done.verifier, SECRET, PASSWORD]) {
      expect(files).not.toContain(String(secret));
      expect(lines).not.toContain(String(secret));
    }
    expect(lines).toContain('/auth/interaction/:uid/consent');
    expect(lines).not.toMatch(/anna|the-state|Kowalski/);
  });

  test('redeems a refresh token for one request only', async () => {
    const { body } = await launch(served);
    const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    const all = await Promise.all(Array.from({ length: 6 }, () => post(`${served.auth}/token`, fields)));
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { body: got } of all)
      if (got['access_token'] !== undefined) expect(await read(served, 'Patient/1', got['access_token'])).toBe(401);
  });
});

describe('access ends at once for', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveSmart();
  });
  afterAll(() => served.stop());

  /** The server checks its files every second. */
  const until = (condition: () => Promise<boolean>) => expect.poll(condition).toBe(true);

  test('a disabled app', async () => {
    const { body } = await launch(served);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    served.setClients(served.clients.map(client => ({ ...client, disabled: client.id === 'public' })));
    await until(async () => (await read(served, 'Patient/1', body['access_token'])) === 401);
    const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, fields)).status).toBe(401);
    expect((await authorize(served)).code).toBeUndefined();
    served.setClients(served.clients);
  });

  test('an app with reduced scopes', async () => {
    const { body } = await launch(served);
    const less = ['launch/patient', 'openid', 'offline_access', 'patient/Patient.rs'];
    served.setClients(served.clients.map(client => ({ ...client, scopes: less })));
    const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    const { body: again } = await post(`${served.auth}/token`, fields);
    expect(String(again['scope'])).not.toContain('patient/*');
    served.setClients(served.clients);
  });

  test('a disabled person', async () => {
    const { body } = await launch(served);
    const file = join(served.folder, 'accounts.json');
    const before = readAccounts(file);
    writeAccounts(
      file,
      before.map(account => ({ ...account, disabled: account.name === 'anna' || account.disabled })),
    );
    await until(async () => (await read(served, 'Patient/1', body['access_token'])) === 401);
    const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
    expect((await post(`${served.auth}/token`, fields)).status).toBe(400);
    writeAccounts(file, before);
  });

  test('a session whose account now belongs to another person', async () => {
    const browser = openBrowser(served.auth);
    await authorize(served, { browser });
    expect((await browser.open(`${served.auth}/apps`)).html).toContain('Apps with access</h1>');
    const file = join(served.folder, 'accounts.json');
    const before = readAccounts(file);
    const password = await hashPassword('something quite else');
    writeAccounts(
      file,
      before.map(account => (account.name === 'anna' ? { ...account, password } : account)),
    );
    expect((await browser.open(`${served.auth}/apps`)).html).toContain('Log in</h1>');
    const { seen } = await authorize(served, { browser });
    expect(seen[0]?.html).toContain('name="password"');
    writeAccounts(file, before);
  });

  test('a grant whose account now belongs to another person', async () => {
    const { body } = await launch(served, { client: 'secret' });
    const token = String(body['access_token']);
    const introspected = () => post(`${served.auth}/introspect`, { token }, BASIC);
    expect((await introspected()).body['active']).toBe(true);
    const file = join(served.folder, 'accounts.json');
    const before = readAccounts(file);
    // As after `lintel user rm anna` and `lintel user add anna`, with or without a server in between.
    const other = { password: await hashPassword(PASSWORD), fhirUser: 'Patient/2' };
    writeAccounts(
      file,
      before.map(account => (account.name === 'anna' ? { ...account, ...other } : account)),
    );
    await until(async () => (await read(served, 'Patient/2', token)) === 401);
    expect((await introspected()).body).toEqual({ active: false });
    const browser = openBrowser(served.auth);
    const login = [
      ['username', 'anna'],
      ['password', PASSWORD],
    ] as const;
    expect((await browser.send(`${served.auth}/login`, login)).html).not.toContain('With a secret');
    const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
    expect((await post(`${served.auth}/token`, fields, BASIC)).status).toBe(400);
    writeAccounts(file, before);
  });

  test('a logged-out browser', async () => {
    const browser = openBrowser(served.auth);
    await authorize(served, { browser });
    const before = new Map(browser.cookies);
    await browser.send(`${served.auth}/apps/logout`, []);
    expect((await browser.open(`${served.auth}/apps`)).html).toContain('Log in</h1>');
    const cookie = [...before].map(([name, value]) => `${name}=${value}`).join('; ');
    expect(await (await fetch(`${served.auth}/apps`, { headers: { cookie } })).text()).toContain('Log in</h1>');
  });
});

test('a restart keeps sessions, grants and keys; key rotation ends no session', async () => {
  let served = await serveRestartable();
  onTestFinished(() => served.stop());
  const browser = openBrowser(served.auth);
  const { body } = await redeem(served, await authorize(served, { browser }));
  const before = readKeys(join(served.folder, 'keys.json'));
  served = await served.restart();
  expect(readKeys(join(served.folder, 'keys.json'))).toEqual(before);
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  expect((await browser.open(`${served.auth}/apps`)).html).toContain('Apps with access</h1>');

  await rotateKeys(join(served.folder, 'keys.json'));
  expect((await browser.open(`${served.auth}/apps`)).html).toContain('Apps with access</h1>');
  const keys = (await (await fetch(`${served.auth}/jwks`)).json()) as {
    readonly keys: readonly { readonly kid: string }[];
  };
  expect(keys.keys).toHaveLength(2);
  const fields = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']), client_id: 'public' };
  const { body: again } = await post(`${served.auth}/token`, fields);
  const header = JSON.parse(atob(String(again['id_token']).split('.')[0] ?? '')) as { readonly kid: string };
  expect(header.kid).not.toBe(before?.signing[0]?.kid);
});

describe('keys that an app publishes', () => {
  const publish = async (keys: () => string) => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked++;
      response.setHeader('Content-Type', 'application/json').end(keys());
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, asked: () => asked };
  };
  const token = async (served: Served) =>
    post(`${served.auth}/token`, {
      ...{ grant_type: 'client_credentials', scope: 'system/*.rs' },
      ...(await assertionOf(served, 'backend', { claims: { jti: randomUUID() } })),
    });
  const withUrl = (served: Served, jwksUrl: string) =>
    served.setClients(
      served.clients.map(({ jwks, ...client }) =>
        client.id === 'backend' ? { ...client, jwksUrl } : { ...client, ...(jwks && { jwks }) },
      ),
    );

  test('are fetched from a private address only if the server is on loopback', async () => {
    const open = await serveSmart();
    onTestFinished(() => open.stop());
    const jwks = open.clients.find(({ id }) => id === 'backend')?.jwks;
    const { url, asked } = await publish(() => JSON.stringify(jwks));
    withUrl(open, url);
    expect((await token(open)).status).toBe(200);
    expect(asked()).toBe(1);

    const elsewhere = async (more: Readonly<Record<string, string>>) => {
      const closed = await serveSmart({ BASE_URL: 'https://lintel.example.org', ...more });
      onTestFinished(() => closed.stop());
      const own = await publish(() => JSON.stringify(closed.clients.find(({ id }) => id === 'backend')?.jwks));
      withUrl(closed, own.url);
      const claims = { aud: 'https://lintel.example.org/auth/token' };
      const assertion = await assertionOf(closed, 'backend', { claims });
      const fields = { grant_type: 'client_credentials', scope: 'system/*.rs', ...assertion };
      return [(await post(`${closed.auth}/token`, fields)).status, own.asked()];
    };
    expect(await elsewhere({})).toEqual([401, 0]);
    expect(await elsewhere({ JWKS_PRIVATE: 'true' })).toEqual([200, 1]);
  });
});

test('with REQUESTS_PER_MINUTE the beginning of a login counts by address, and its later steps do not', async () => {
  const served = await serveSmart({ REQUESTS_PER_MINUTE: '1' });
  onTestFinished(() => served.stop());
  expect((await authorize(served)).code).toBeDefined();
  const again = await fetch(`${served.auth}/authorize?client_id=growth`, { redirect: 'manual' });
  expect(again.status).toBe(429);
  expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(again.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  expect(await again.text()).toContain('Too many logins were begun from this address.');
  expect((await fetch(`${served.auth}/jwks`)).status).toBe(200);
});

test('while the authorization server starts, no answer says that it is missing or that a token is invalid', async () => {
  const { environment } = smallClinic();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await new Promise(resolve => taken.close(resolve));
  const seen = new Set<string>();
  let isOpen = false;
  const asking = (async () => {
    const headers = { authorization: 'Bearer unknown' };
    while (!isOpen)
      await Promise.all(
        ['/health', '/ready', '/auth/jwks', '/fhir/Patient'].map(async path => {
          const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => undefined);
          if (!isOpen && answer !== undefined) seen.add(`${path} ${answer.status}`);
        }),
      );
  })();
  const running = await startServer(
    readConfig({ ...environment, ACCESS: 'smart', PORT: String(port) }),
    { out: () => {}, note: () => {} },
    createLog({ level: 'silent', format: 'json' }),
  );
  isOpen = true;
  onTestFinished(() => running?.stop());
  await asking;
  const expected = ['/health 200', '/ready 503', '/auth/jwks 503', '/fhir/Patient 503'];
  expect([...seen].filter(one => !expected.includes(one))).toEqual([]);
  expect((await fetch(`http://127.0.0.1:${port}/auth/jwks`)).status).toBe(200);
});
