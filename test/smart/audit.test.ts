/** Patients see who accessed their data; the audit also records what the authorization server's pages show. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rowsOf } from '../audit/records.ts';
import { formAction, openBrowser } from './browser.ts';
import { authorize, launch, PASSWORD, serveSmart } from './served.ts';

test('a patient reads the current audit of the own record, and login pages are audited with their address', async () => {
  const served = await serveSmart();
  onTestFinished(() => served.stop());
  const { body } = await launch(served, { scope: 'launch/patient patient/*.rs' });
  const ask = async (path: string) => {
    const response = await fetch(`${served.fhir}/${path}`, {
      headers: { authorization: `Bearer ${String(body['access_token'])}` },
    });
    return { status: response.status, json: (await response.json()) as { readonly total?: number } };
  };
  const first = await ask('Patient/1/AuditEvent');
  expect(first.status).toBe(200);
  const before = first.json.total ?? 0;
  expect(before).toBeGreaterThan(0);
  await ask('Patient/1');
  // The first list already named the patient.
  expect((await ask('Patient/1/AuditEvent')).json.total).toBe(before + 2);
  const addresses = rowsOf(
    join(served.folder, 'audit.sqlite'),
    "SELECT DISTINCT ADDRESS FROM RECORD WHERE CLIENT = 'login'",
  );
  expect(addresses).toEqual([{ ADDRESS: '127.0.0.1' }]);
});

test('logins, refusals, grants, denials and revocations are audited, without passwords and unknown names', async () => {
  const served = await serveSmart();
  onTestFinished(() => served.stop());
  const browser = openBrowser(served.auth);
  const form = formAction(await browser.open(`${served.auth}/apps`), '/login');
  const tryAs = (username: string, password: string) =>
    browser.send(form, [
      ['username', username],
      ['password', password],
      ['place', 'apps'],
    ]);
  expect((await tryAs('anna', 'wrong password')).status).toBe(401);
  expect((await tryAs('gone', PASSWORD)).status).toBe(401);
  expect((await tryAs(PASSWORD, 'anna')).status).toBe(401);
  expect((await tryAs('anna', PASSWORD)).status).toBe(200);
  await authorize(served, { browser, decision: 'deny' });
  await authorize(served, { browser, scope: 'launch/patient patient/*.rs' });
  const apps = await browser.open(`${served.auth}/apps`);
  const [, grant = ''] = /name="grant" value="([^"]+)"/.exec(apps.html) ?? [];
  await browser.send(formAction(apps, '/end'), [['grant', grant]]);
  const rows = rowsOf(
    join(served.folder, 'audit.sqlite'),
    `SELECT CLIENT, SUBJECT, STATUS, QUERY, PATIENT FROM RECORD NATURAL JOIN EVENT
      WHERE INTERACTION = 'operation' AND ROUTE LIKE 'POST /auth/%' ORDER BY SEQ`,
  );
  const login = 'POST /auth/login';
  const consent = 'POST /auth/interaction/:uid/consent?client=public';
  expect(rows.map(row => Object.values(row))).toEqual([
    ['nobody', 'anna', 401, login, null],
    ['nobody', 'gone', 401, login, null],
    ['nobody', null, 401, login, null],
    ['login', 'anna', 303, login, null],
    ['login', 'anna', 403, consent, null],
    ['login', 'anna', 303, `${consent}&scope=launch%2Fpatient+patient%2F*.rs`, '1'],
    ['login', 'anna', 200, 'POST /auth/apps/end?client=public', '1'],
  ]);
});
