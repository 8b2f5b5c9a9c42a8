/**
 * A store of the authorization server that cannot be written, as on a full disk, or not even read: clients are told to
 * try again, nothing counts as done, no request waits for ever, and all works again afterwards.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { assertionOf, authorize, launch, post, read, redeem, type Served, serveSmart } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

/** Makes SQLite refuse whatever would change an entry, until the returned function is called. */
function refuseWrites(): () => void {
  const database = new DatabaseSync(join(served.folder, 'smart.sqlite'));
  onTestFinished(() => database.close());
  const kinds = ['INSERT', 'UPDATE', 'DELETE'];
  for (const kind of kinds)
    database.exec(`CREATE TRIGGER refuse_${kind} BEFORE ${kind} ON entry BEGIN SELECT RAISE(FAIL, 'full'); END`);
  return () => {
    for (const kind of kinds) database.exec(`DROP TRIGGER refuse_${kind}`);
  };
}

const linesOf = (message: string): readonly string[] => served.lines.filter(line => line.includes(message));

test('a store that cannot be written is 503 for apps and people, and nothing is lost', async () => {
  const { body } = await launch(served);
  const pending = await authorize(served);
  const allow = refuseWrites();

  const assertion = await assertionOf(served, 'backend');
  const answers = [
    await post(`${served.auth}/token`, { grant_type: 'client_credentials', scope: 'system/*.rs', ...assertion }),
    await post(`${served.auth}/token`, {
      grant_type: 'refresh_token',
      refresh_token: String(body['refresh_token']),
      client_id: 'public',
    }),
    await redeem(served, pending),
    // An app must not believe that a token has ended if it has not.
    await post(`${served.auth}/revoke`, { token: String(body['access_token']), client_id: 'public' }),
  ];
  for (const { status, body: refused, headers } of answers) {
    expect([status, refused['error']]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  // The app hears of it at its own address.
  const { page } = await authorize(served);
  expect(new URL(page.url).searchParams.get('error')).toBe('temporarily_unavailable');
  const browser = openBrowser(served.auth);
  await browser.open(`${served.auth}/apps`);
  const login = await browser.send(`${served.auth}/login`, [
    ['username', 'anna'],
    ['password', 'correct horse battery'],
  ]);
  expect([login.status, login.html]).toEqual([503, expect.stringContaining('cannot store anything now')]);
  // Tokens still work.
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  expect(linesOf('the store of the authorization server cannot be written')).toHaveLength(1);
  expect(linesOf('the authorization server failed')).toEqual([]);

  allow();
  expect((await redeem(served, pending)).status).toBe(200);
  const refreshed = await post(`${served.auth}/token`, {
    grant_type: 'refresh_token',
    refresh_token: String(body['refresh_token']),
    client_id: 'public',
  });
  expect(refreshed.status).toBe(200);
});

test('a store that cannot be read is 500 for a public app that refreshes without its id', async () => {
  const { body } = await launch(served);
  const database = new DatabaseSync(join(served.folder, 'smart.sqlite'));
  onTestFinished(() => database.close());
  database.exec('ALTER TABLE entry RENAME TO away');
  const answer = await post(`${served.auth}/token`, {
    grant_type: 'refresh_token',
    refresh_token: String(body['refresh_token']),
  });
  database.exec('ALTER TABLE away RENAME TO entry');
  expect([answer.status, answer.body]).toEqual([500, { error: 'server_error' }]);
});

test('while a required audit cannot be written, nobody logs in, and the page says that it may work later', async () => {
  const own = await serveSmart();
  onTestFinished(() => own.stop());
  const database = new DatabaseSync(join(own.folder, 'audit.sqlite'));
  onTestFinished(() => database.close());
  database.exec("CREATE TRIGGER refuse BEFORE INSERT ON RECORD BEGIN SELECT RAISE(FAIL, 'full'); END");
  const browser = openBrowser(own.auth);
  await browser.open(`${own.auth}/apps`);
  const login = await browser.send(`${own.auth}/login`, [
    ['username', 'anna'],
    ['password', 'correct horse battery'],
  ]);
  expect([login.status, login.html]).toEqual([503, expect.stringContaining('cannot store anything now')]);
  expect((await browser.open(`${own.auth}/apps`)).html).toContain('name="password"');
  expect(own.lines.filter(line => line.includes('the authorization server failed'))).toEqual([]);
});
