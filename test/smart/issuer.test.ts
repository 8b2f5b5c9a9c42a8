/**
 * Users log in at the hospital's issuer, and Lintel handles scopes, launch context and consent. Against a provider on
 * loopback: the requests to it, who is admitted, and how bad answers are treated.
 */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readAccounts, writeAccounts } from '../../src/auth/accounts.ts';
import { type Browser, formAction, hiddenFields, openBrowser, type Page } from './browser.ts';
import { fakeIssuer, ISSUER_CLIENT, testIssuer } from './fake-issuer.ts';
import { authorize, PASSWORD, read, redeem, type Served, serveRestartable, serveSmart } from './served.ts';

type Fake = Awaited<ReturnType<typeof fakeIssuer>>;

async function serveWith(
  fake: Fake,
  more: Readonly<Record<string, string>> = {},
  serve: typeof serveRestartable = serveSmart,
): Promise<Served> {
  const served = await serve({
    ...{ LOGIN_ISSUER: fake.url, LOGIN_CLIENT_ID: ISSUER_CLIENT.id, LOGIN_CLIENT_SECRET: ISSUER_CLIENT.secret },
    ...more,
  });
  fake.register(served.auth);
  return served;
}

/** Follows Lintel's login page to the URL with which the issuer sends the browser back. */
async function goThere(served: Served, browser: Browser, page: Page): Promise<Page> {
  const away = await browser.send(formAction(page, '/issuer'), hiddenFields(page));
  return new URL(away.url).origin === new URL(served.auth).origin ? away : openBrowser(away.url).open(away.url);
}

/** Logs in to the page of apps. */
async function logIn(served: Served, browser = openBrowser(served.auth)): Promise<Page> {
  const back = await goThere(served, browser, await browser.open(`${served.auth}/apps`));
  return back.url.startsWith(`${served.auth}/callback`) ? browser.open(back.url) : back;
}

const isIn = (page: Page): boolean => page.html.includes('Apps with access</h1>');

const ANNA = { sub: 's-anna', name: 'Anna <K>', preferred_username: 'anna.k', fhirUser: 'Patient/1' };

describe('a server whose people log in at an issuer', () => {
  let fake: Fake;
  let served: Served;
  beforeAll(async () => {
    fake = await fakeIssuer();
    served = await serveWith(fake);
  });
  afterAll(async () => {
    await served.stop();
    fake.close();
  });
  beforeEach(() => {
    Object.assign(fake, { who: ANNA, tamper: undefined, key: undefined, mode: 'up' });
  });

  test('an app is launched by a person known only to the issuer', async () => {
    const browser = openBrowser(served.auth);
    const { seen } = await authorize(served, { browser });
    const [login] = seen;
    if (login === undefined) throw new Error('no page');
    expect(login.html).toContain(`Log in with ${new URL(fake.url).host}`);
    const back = await goThere(served, browser, login);
    expect(back.url.startsWith(`${served.auth}/callback?code=`)).toBe(true);
    const consent = await browser.open(back.url);
    expect(consent.html).toContain('Anna &lt;K&gt;');
    expect(consent.html).toContain('Kowalski');
    // The browser is logged in now, so the next launch requires only consent.
    const done = await authorize(served, { browser });
    const { body } = await redeem(served, done);
    expect(body['patient']).toBe('1');
    const claims = JSON.parse(Buffer.from(String(body['id_token']).split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ iss: served.auth, fhirUser: `${served.fhir}/Patient/1` });
    expect(String(claims.sub)).toMatch(/^issuer:[\w-]{43}$/);
    expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
    expect(await read(served, 'Patient/2', body['access_token'])).toBe(404);
  });

  test('consent follows the login directly, and gives a code', async () => {
    const browser = openBrowser(served.auth);
    const { seen, verifier } = await authorize(served, { browser });
    const back = await goThere(served, browser, seen[0] as Page);
    const consent = await browser.open(back.url);
    const end = await browser.send(formAction(consent, '/consent'), [
      ['decision', 'allow'],
      ['patient', '1'],
      ['scope', 'patient/*.rs'],
    ]);
    const code = new URL(end.url).searchParams.get('code') ?? '';
    expect((await redeem(served, { code, verifier })).body['patient']).toBe('1');
  });

  test('Lintel sends PKCE, state and nonce, with the registered redirect URL, whatever Host has', async () => {
    const page = await openBrowser(served.auth).open(`${served.auth}/apps`);
    const response = await fetch(formAction(page, '/issuer'), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-host': 'evil.example.org',
        origin: new URL(served.auth).origin,
      },
      body: 'place=https://evil.example.org',
      redirect: 'manual',
    });
    const { searchParams, origin } = new URL(response.headers.get('location') ?? '');
    expect(origin).toBe(fake.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'lintel', scope: 'openid profile', code_challenge_method: 'S256' },
      redirect_uri: `${served.auth}/callback`,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(response.headers.getSetCookie().join()).toMatch(/^lintel_login_[\w-]+=[\w-]{43};.*HttpOnly.*SameSite=Lax/i);
  });

  test('prompt=login and login_hint are passed to the issuer', async () => {
    const browser = openBrowser(served.auth);
    const parameters = { prompt: 'login', login_hint: 'anna.k' };
    const { seen } = await authorize(served, { browser, parameters });
    const away = await browser.send(formAction(seen[0] as Page, '/issuer'), []);
    const { searchParams } = new URL(away.url);
    expect([searchParams.get('prompt'), searchParams.get('login_hint')]).toEqual(['login', 'anna.k']);
  });

  test('there is no password form, and a posted one is refused', async () => {
    const browser = openBrowser(served.auth);
    const page = await browser.open(`${served.auth}/apps`);
    expect(page.html).not.toContain('type="password"');
    const sent = await browser.send(`${served.auth}/login`, [
      ['username', 'anna'],
      ['password', PASSWORD],
    ]);
    expect([sent.status, isIn(sent)]).toEqual([403, false]);
    const { seen } = await authorize(served, { browser });
    const action = formAction(seen[0] as Page, '/issuer').replace(/issuer$/, 'login');
    const inside = await browser.send(action, [
      ['username', 'anna'],
      ['password', PASSWORD],
    ]);
    expect(inside.status).toBe(403);
  });

  test('logging out ends the session here, and redirects to the issuer to end it there', async () => {
    const browser = openBrowser(served.auth);
    expect(isIn(await logIn(served, browser))).toBe(true);
    const out = await browser.send(`${served.auth}/apps/logout`, []);
    const { origin, pathname, searchParams } = new URL(out.url);
    expect([origin, pathname]).toEqual([fake.url, '/session/end']);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'lintel',
      post_logout_redirect_uri: `${served.auth}/apps`,
    });
    expect(isIn(await browser.open(`${served.auth}/apps`))).toBe(false);
  });

  const NOW = Math.floor(Date.now() / 1000);
  const OTHER = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  type Tamper = NonNullable<Fake['tamper']>;
  test.each<[title: string, tamper: Tamper, key?: object]>([
    ['the nonce of another login', claims => void Object.assign(claims, { nonce: 'another' })],
    ['no nonce', claims => void delete claims['nonce']],
    ['another audience', claims => void Object.assign(claims, { aud: 'another-client' })],
    ['a further audience without a party', claims => void Object.assign(claims, { aud: ['lintel', 'another-client'] })],
    ['another issuer', claims => void Object.assign(claims, { iss: 'https://evil.example.org' })],
    ['an end in the past', claims => void Object.assign(claims, { exp: NOW - 3600 })],
    ['no end', claims => void delete claims['exp']],
    ['no subject', claims => void delete claims['sub']],
    ['no signature', (_claims, header) => void Object.assign(header, { alg: 'none' })],
    [
      'another algorithm than its key',
      (_claims, header) => void Object.assign(header, { alg: 'PS512', kid: 'x' }),
      OTHER,
    ],
    ['the signature of another key', () => {}, OTHER],
    ['an unpublished key', (_claims, header) => void Object.assign(header, { kid: 'strange' }), OTHER],
  ])('an id_token with %s is refused', async (_title, tamper, key) => {
    Object.assign(fake, { tamper, key });
    const browser = openBrowser(served.auth);
    const page = await logIn(served, browser);
    expect([page.status, page.html.includes('could not be trusted')]).toEqual([400, true]);
    expect(isIn(await browser.open(`${served.auth}/apps`))).toBe(false);
  });

  test.each<[title: string, change: (query: URLSearchParams) => void]>([
    ['of another issuer (mix-up)', query => query.set('iss', 'https://evil.example.org')],
    ['without its issuer', query => query.delete('iss')],
    ['with an unknown code', query => query.set('code', 'nonsense')],
    ['without a code', query => query.delete('code')],
    ['with two codes', query => query.append('code', 'another')],
    ['with an error besides', query => query.set('error', 'invalid_request')],
  ])('a callback %s is refused', async (_title, change) => {
    const browser = openBrowser(served.auth);
    const back = new URL((await goThere(served, browser, await browser.open(`${served.auth}/apps`))).url);
    change(back.searchParams);
    const page = await browser.open(back.href);
    expect([page.status, page.html.includes('could not be trusted')]).toEqual([400, true]);
    expect(isIn(await browser.open(`${served.auth}/apps`))).toBe(false);
  });

  test.each<[title: string, change: (query: URLSearchParams) => void]>([
    ['no state', query => query.delete('state')],
    ['another state', query => query.set('state', 'nonsense')],
    ['two states', query => query.append('state', query.get('state') ?? '')],
  ])('a callback with %s is refused as unknown', async (_title, change) => {
    const browser = openBrowser(served.auth);
    const back = new URL((await goThere(served, browser, await browser.open(`${served.auth}/apps`))).url);
    change(back.searchParams);
    const page = await browser.open(back.href);
    expect([page.status, page.html.includes('This page has expired')]).toEqual([400, true]);
  });

  test('a callback is accepted once, also among simultaneous requests', async () => {
    const browser = openBrowser(served.auth);
    const back = await goThere(served, browser, await browser.open(`${served.auth}/apps`));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const come = async () => (await fetch(back.url, { headers: { cookie }, redirect: 'manual' })).status;
    const all = await Promise.all([come(), come(), come()]);
    expect(all.toSorted()).toEqual([303, 400, 400]);
    expect(await come()).toBe(400);
  });

  test('a login cannot continue in another browser, and still works in its own', async () => {
    const browser = openBrowser(served.auth);
    const back = await goThere(served, browser, await browser.open(`${served.auth}/apps`));
    const other = openBrowser(served.auth);
    await other.open(`${served.auth}/apps`);
    const page = await other.open(back.url);
    expect([page.status, page.html.includes('This page has expired')]).toEqual([400, true]);
    expect(isIn(await other.open(`${served.auth}/apps`))).toBe(false);
    expect(isIn(await browser.open(back.url))).toBe(true);
  });

  test('a login has to end within 15 minutes', async () => {
    const browser = openBrowser(served.auth);
    const page = await browser.open(`${served.auth}/apps`);
    const ago = Date.now() - 15 * 60_000 - 2000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(ago);
    const back = await goThere(served, browser, page).finally(() => clock.mockRestore());
    const late = await browser.open(back.url);
    expect([late.status, late.html.includes('This page has expired')]).toEqual([400, true]);
  });

  test('a login for one launch cannot continue another', async () => {
    const [anna, mallory] = [openBrowser(served.auth), openBrowser(served.auth)];
    const [own, foreign] = await Promise.all([anna, mallory].map(browser => authorize(served, { browser })));
    const back = await goThere(served, mallory, foreign?.seen[0] as Page);
    // The server accepts the answer and redirects to the launch with a ticket, which Anna's browser then opens.
    const cookie = [...mallory.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const ticket = (await fetch(back.url, { headers: { cookie }, redirect: 'manual' })).headers.get('location') ?? '';
    expect(ticket).toContain('/back?ticket=');
    const launch = formAction(own?.seen[0] as Page, '/issuer').replace(/issuer$/, 'back');
    for (const url of [ticket, launch + new URL(ticket).search]) {
      const page = await anna.open(url);
      expect([page.status, page.html.includes('This page has expired')]).toEqual([400, true]);
    }
  });

  test('forms are accepted only from pages of Lintel', async () => {
    const headers = { origin: 'https://evil.example.org' };
    const page = await openBrowser(served.auth).send(`${served.auth}/login/issuer`, [['place', 'apps']], headers);
    expect([page.status, page.html.includes('sent from another site')]).toEqual([403, true]);
  });

  test.each([
    ['nobody', undefined],
    ['a resource of another server', 'https://evil.example.org/fhir/Patient/1'],
    ['no reference', 'Patient'],
    ['a path', '../Patient/1'],
    ['no text', 7],
  ])('a user who is %s to the issuer is refused', async (_title, fhirUser) => {
    fake.who = { sub: 's-nobody', preferred_username: 'anna', fhirUser };
    const page = await logIn(served);
    expect([page.status, page.html.includes('belongs to no person in the record')]).toEqual([403, true]);
  });

  test('a reference may be absolute, below the address of this server', async () => {
    fake.who = { sub: 's-2', fhirUser: `${served.fhir}/Patient/2` };
    expect(isIn(await logIn(served))).toBe(true);
  });

  test('a cancelled login at the issuer is reported', async () => {
    fake.who = undefined;
    const page = await logIn(served);
    expect([page.status, page.html.includes('You did not log in with')]).toEqual([400, true]);
  });

  test('during an outage of the issuer the page reports it, and recovers afterwards', async () => {
    const other = await testIssuer();
    const own = await serveWith(other);
    onTestFinished(() => own.stop());
    other.who = ANNA;
    for (const mode of ['down', 'silent', 'endless'] as const) {
      other.mode = mode;
      const page = await logIn(own);
      expect([page.status, page.html.includes('does not answer at the moment')]).toEqual([503, true]);
      expect(page.html).toContain('role="alert"');
    }
    other.mode = 'up';
    expect(isIn(await logIn(own))).toBe(true);
    // Between the two steps of a login.
    const browser = openBrowser(own.auth);
    const back = await goThere(own, browser, await browser.open(`${own.auth}/apps`));
    other.mode = 'down';
    const page = await browser.open(back.url);
    expect([page.status, page.html.includes('does not answer at the moment')]).toEqual([503, true]);
    expect((await fetch(`${own.fhir}/metadata`)).status).toBe(200);
    expect(own.lines.join()).toContain('a login at the issuer failed');
  });

  test('neither the log nor a file has secrets of a login', async () => {
    const browser = openBrowser(served.auth);
    const back = new URL((await goThere(served, browser, await browser.open(`${served.auth}/apps`))).url);
    expect(isIn(await browser.open(back.href))).toBe(true);
    const lines = served.lines.join();
    for (const name of ['code', 'state']) expect(lines).not.toContain(back.searchParams.get(name) ?? '');
    expect(lines).toContain('"route":"/auth/callback"');
    expect(lines).not.toMatch(/anna\.k|s-anna|Anna/);
    expect(lines).not.toContain(ISSUER_CLIENT.secret);
  });
});

describe('a claim that is a login name', () => {
  const serveNamed = async (claim: string) => {
    const fake = await testIssuer();
    const served = await serveWith(fake, { LOGIN_NAME_CLAIM: claim, LOGIN_PASSWORDS: 'true' });
    onTestFinished(() => served.stop());
    return { fake, served };
  };

  test('logs in to the account of that name, until it is disabled', async () => {
    const { fake, served } = await serveNamed('preferred_username');
    fake.who = { sub: 's-b', preferred_username: 'bert', fhirUser: 'Patient/1' };
    const page = await logIn(served);
    expect([isIn(page), page.html.includes('bert')]).toEqual([true, true]);
    fake.who = { sub: 's-g', preferred_username: 'gone', fhirUser: 'Patient/1' };
    expect((await logIn(served)).status).toBe(403);
  });

  test('identifies the person in the database, by the rules of the pack', async () => {
    const files = {
      'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [{ system: http://x/portal, value: { from: SURNAME, via: code } }]
  name: [ { family: { from: SURNAME } } ]
`,
      'access.yaml': 'logins:\n  portal: Patient?identifier=http://x/portal|{login}\n',
    };
    const fake = await testIssuer();
    const names = { LOGIN_NAME_CLAIM: 'preferred_username', LOGIN_RULES: 'portal' };
    const served = await serveWith(fake, names, more => serveSmart(more, files));
    onTestFinished(() => served.stop());
    const shown = async (login: string): Promise<Page> => {
      fake.who = { sub: `s-${login}`, preferred_username: login };
      return logIn(served);
    };
    expect(isIn(await shown('Kowalski'))).toBe(true);
    expect((await shown('Nobody')).status).toBe(403);
    expect((await shown('Kowalski,Müller')).status).toBe(403);
    await expect(
      serveWith(fake, { ...names, LOGIN_RULES: 'portal staf' }, more => serveSmart(more, files)),
    ).rejects.toMatchObject({ problems: [expect.stringContaining('has no login "staf"; it has portal')] });
  });

  test('refuses a person known only to the issuer if an account of that name is disabled', async () => {
    const { fake, served } = await serveNamed('preferred_username');
    fake.who = { sub: 's-n', preferred_username: 'new', fhirUser: 'Patient/1' };
    const browser = openBrowser(served.auth);
    expect(isIn(await logIn(served, browser))).toBe(true);
    const file = join(served.folder, 'accounts.json');
    const [first, ...rest] = readAccounts(file);
    if (first === undefined) throw new Error('no accounts');
    writeAccounts(file, [{ ...first, name: 'new', disabled: true }, ...rest]);
    expect(isIn(await browser.open(`${served.auth}/apps`))).toBe(false);
    expect((await logIn(served)).status).toBe(403);
  });

  test('is accepted as an email address only if the issuer verified it', async () => {
    const { fake, served } = await serveNamed('email');
    const file = join(served.folder, 'accounts.json');
    const [first, ...rest] = readAccounts(file);
    if (first === undefined) throw new Error('no accounts');
    writeAccounts(file, [{ ...first, name: 'anna@example.org' }, ...rest]);
    for (const email_verified of [false, undefined, 'true']) {
      fake.who = { sub: 's-e', email: 'anna@example.org', email_verified };
      expect((await logIn(served)).status).toBe(403);
    }
    fake.who = { sub: 's-e', email: 'anna@example.org', email_verified: true };
    expect(isIn(await logIn(served))).toBe(true);
  });

  test('passwords stay where they are configured to, also while the issuer is away', async () => {
    const { fake, served } = await serveNamed('preferred_username');
    fake.mode = 'silent';
    const browser = openBrowser(served.auth);
    const page = await logIn(served, browser);
    expect([page.status, page.html.includes('type="password"')]).toEqual([503, true]);
    const inside = await browser.send(formAction(page, '/issuer').replace(/\/issuer$/, ''), [
      ['username', 'anna'],
      ['password', PASSWORD],
      ['place', 'apps'],
    ]);
    expect(isIn(inside)).toBe(true);
    const out = await browser.send(`${served.auth}/apps/logout`, []);
    expect(new URL(out.url).origin).toBe(new URL(served.auth).origin);
  });
});

describe('Lintel authenticates to the issuer', () => {
  test.each(['client_secret_basic', 'client_secret_post'] as const)('by a secret, %s', async method => {
    const fake = await testIssuer({ token_endpoint_auth_method: method });
    fake.who = ANNA;
    const served = await serveWith(fake);
    onTestFinished(() => served.stop());
    expect(isIn(await logIn(served))).toBe(true);
    expect(fake.asked.includes('/token Basic')).toBe(method === 'client_secret_basic');
    expect(fake.asked.includes('/token')).toBe(method === 'client_secret_post');
  });

  test('by a key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const fake = await testIssuer({
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', use: 'sig' }] } as never,
    });
    fake.who = ANNA;
    const key = JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'k', alg: 'ES256' });
    const served = await serveWith(fake, { LOGIN_CLIENT_SECRET: '', LOGIN_CLIENT_KEY: key });
    onTestFinished(() => served.stop());
    expect(isIn(await logIn(served))).toBe(true);
  });

  test('and reads claims missing in the id_token from userinfo', async () => {
    const fake = await testIssuer({}, { claimsIn: 'userinfo' });
    fake.who = ANNA;
    const served = await serveWith(fake);
    onTestFinished(() => served.stop());
    expect(isIn(await logIn(served))).toBe(true);
    expect(fake.asked).toContain('/me');
  });
});

test('a restart keeps people who logged in at the issuer', async () => {
  const fake = await testIssuer();
  fake.who = ANNA;
  let served = await serveWith(fake, {}, serveRestartable);
  onTestFinished(() => served.stop());
  const browser = openBrowser(served.auth);
  expect(isIn(await logIn(served, browser))).toBe(true);
  served = await served.restart();
  expect(isIn(await browser.open(`${served.auth}/apps`))).toBe(true);
});
