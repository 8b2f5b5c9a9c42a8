/**
 * Break-glass on a whole server: only permitted users open hidden data, with a reason, within their scopes; the server
 * reports and audits it; and nothing of it reaches the same caller without the header.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAccounts, writeAccounts } from '../../src/auth/accounts.ts';
import { rowsOf } from '../audit/records.ts';
import { lintel } from '../cli/lintel.ts';
import { VISITS } from '../cli/small-clinic.ts';
import { launch, type Served, serveSmart } from './served.ts';

const ACT = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
const REASON = 'Unconscious in the emergency room: Kanarienvögel';

/** Two weighings, one of which has a label. */
const WEIGHINGS = `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  meta: { security: [{ from: NO, via: weighed }] }
  status: final
  code: { text: weight }
  subject: { ref: people, on: { ID: PERSON_ID } }
`;

/** The practitioners who weigh: Practitioner/7 is active, Practitioner/8 is not. */
const STAFF = `mapping: staff
resource: Practitioner
source: { table: WEIGHING, as: s, key: [NO] }
id: "{NO}"
compartment: { none: whoever weighs has the number of a weighing }
elements:
  active: { from: NO, via: working }
`;

const PACK = `name: small
title: A small clinic
zone: Europe/Warsaw
systems: { act: ${ACT} }
`;

const CODES = `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
weighed:
  system: ${ACT}
  rows: { "8": SUD substance use }
  else: absent
working:
  system: http://hl7.org/fhir/special-values
  rows: { "7": true, "8": false }
  else: absent
`;

const ACCESS = `users:
  Practitioner: { patients: Patient?gender=female }
labels:
  - hide: act#SUD
break-glass:
  users: Practitioner?active=true
  clients: [public, secret]
  opens: [labels, patients]
`;

let served: Served;
beforeAll(async () => {
  served = await serveSmart(
    {},
    {
      ...{ 'pack.yaml': PACK, 'codes.yaml': CODES, 'weighing.yaml': WEIGHINGS },
      ...{ 'staff.yaml': STAFF, 'visit.yaml': VISITS, 'access.yaml': ACCESS },
    },
  );
  const file = join(served.folder, 'accounts.json');
  const accounts = readAccounts(file);
  const doctor = accounts.find(({ name }) => name === 'doctor');
  if (doctor === undefined) throw new Error('there is no doctor');
  writeAccounts(file, [...accounts, { ...doctor, name: 'retired', fhirUser: 'Practitioner/8' }]);
});
afterAll(() => served.stop());

async function tokenOf(user: string, scope: string, client = 'public'): Promise<string> {
  return String((await launch(served, { user, scope, client })).body['access_token']);
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function ask(token: string, path: string, reason?: string, init: RequestInit = {}): Promise<Answered> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(init.headers as Record<string, string>),
    ...(reason !== undefined && { 'Break-Glass': Buffer.from(reason, 'utf8').toString('latin1') }),
  };
  const response = await fetch(`${served.fhir}/${path}`, { ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const idsIn = (text: string): readonly string[] => [...text.matchAll(/"id":"(w-\d)"/g)].map(([, id = '']) => id);

test('hidden data is shown only with a reason, marked in header and searchset, and hidden afterwards', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  for (let round = 0; round < 3; round++) {
    const whole = await ask(token, 'Observation?_sort=_id');
    expect([whole.status, idsIn(whole.text), whole.headers.get('break-glass')]).toEqual([200, ['w-7'], null]);
    expect(whole.text).not.toContain('"mode":"outcome"');
    const broken = await ask(token, 'Observation?_sort=_id', REASON);
    expect([broken.status, idsIn(broken.text)]).toEqual([200, ['w-7', 'w-8']]);
    expect(broken.headers.get('break-glass')).toBe('labels, patients');
    const [first] = (JSON.parse(broken.text) as { entry: readonly { search: { mode: string }; resource: object }[] })
      .entry;
    expect(first).toMatchObject({ search: { mode: 'outcome' }, resource: { issue: [{ severity: 'warning' }] } });
    expect(broken.text).not.toContain('Kanarien');
    for (const [path, status] of [
      ['Observation/w-8', 404],
      ['Patient/2', 404],
      ['Patient/2/$everything', 404],
      ['Observation/w-7', 200],
    ] as const) {
      expect([path, (await ask(token, path)).status]).toEqual([path, status]);
      expect([path, (await ask(token, path, REASON)).status]).toEqual([path, 200]);
    }
  }
});

test('cached answers of a broken glass are separate, and each hit is audited', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  const statuses = [];
  for (const reason of [undefined, REASON, undefined, REASON, undefined, REASON]) {
    const { headers, text } = await ask(token, 'Observation?_count=7', reason);
    expect(idsIn(text)).toHaveLength(reason === undefined ? 1 : 2);
    statuses.push(headers.get('cache-status')?.includes('hit'));
  }
  expect(statuses.slice(2)).toEqual([true, true, true, true]);
  const rows = rowsOf(
    join(served.folder, 'audit.sqlite'),
    "SELECT GLASS, KEPT FROM RECORD WHERE QUERY LIKE '%_count=7' ORDER BY SEQ",
  );
  expect(rows.map(({ GLASS }) => GLASS)).toEqual([null, REASON, null, REASON, null, REASON]);
  expect(rows.map(({ KEPT }) => KEPT)).toEqual([0, 0, 1, 1, 1, 1]);
});

test('its page links are refused without the header, by GET and POST', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  const form = { method: 'POST', body: new URLSearchParams({ _count: '1' }) };
  for (const init of [undefined, form]) {
    const path = init === undefined ? 'Observation?_count=1' : 'Observation/_search';
    const first = await ask(token, path, REASON, init);
    const { link } = JSON.parse(first.text) as { readonly link: readonly { relation: string; url: string }[] };
    const next = link.find(({ relation }) => relation === 'next')?.url.slice(served.fhir.length + 1) ?? '';
    expect(next).not.toBe('');
    expect((await ask(token, next)).status).toBe(400);
    const second = await ask(token, next, REASON);
    expect([second.status, idsIn(second.text).length]).toEqual([200, 1]);
    expect([...idsIn(first.text), ...idsIn(second.text)].toSorted()).toEqual(['w-7', 'w-8']);
  }
});

test('it opens nothing beyond the scopes and the launch patient', async () => {
  const narrow = await tokenOf('doctor', 'user/Patient.rs');
  expect((await ask(narrow, 'Observation/w-8', REASON)).status).toBe(403);
  expect((await ask(narrow, 'Patient/2', REASON)).status).toBe(200);
  const launched = await tokenOf('doctor', 'launch/patient patient/*.rs');
  expect((await ask(launched, 'Observation/w-8', REASON)).status).toBe(200);
  expect((await ask(launched, 'Patient/2', REASON)).status).toBe(404);
});

test('a forbidden user is refused, not answered as without the header', async () => {
  for (const [user, client] of [
    ['retired', 'public'],
    ['doctor', 'key'],
    ['anna', 'public'],
  ] as const) {
    const scope = user === 'anna' ? 'launch/patient patient/*.rs' : 'user/*.rs';
    const token = await tokenOf(user, scope, client);
    const refused = await ask(token, 'Patient/1', REASON);
    expect([user, client, refused.status, refused.headers.get('break-glass')]).toEqual([user, client, 403, null]);
    expect(refused.text).toContain('Break-Glass');
  }
});

test('a reason has 10 to 500 characters', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  for (const [reason, status] of [
    ['', 400],
    ['too short', 400],
    ['  short    ', 400],
    ['x'.repeat(501), 400],
    ['x'.repeat(500), 200],
    ['ö'.repeat(10), 200],
  ] as const)
    expect([reason, (await ask(token, 'Patient/1', reason)).status]).toEqual([reason, status]);
});

test('it works for requests of a batch', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  const entry = ['Observation/w-8', 'Observation?_id=w-8'].map(url => ({ request: { method: 'GET', url } }));
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/fhir+json' } };
  expect(idsIn((await ask(token, '', undefined, init)).text)).toEqual([]);
  const broken = await ask(token, '', `${REASON} batch`, init);
  expect(idsIn(broken.text)).toEqual(['w-8', 'w-8']);
  expect(broken.text).toContain('The glass was broken');
  const rows = rowsOf(join(served.folder, 'audit.sqlite'), `SELECT 1 FROM RECORD WHERE GLASS = '${REASON} batch'`);
  expect(rows).toHaveLength(3);
});

test('exports are refused, and so is the header on an open server', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  for (const [path, method] of [
    ['$export', 'GET'],
    ['Patient/$export', 'POST'],
    ['Group/1/$export', 'GET'],
    ['$list-jobs', 'GET'],
    ['$export-poll-status?_jobId=1', 'GET'],
    ['$export-poll-status?_jobId=1', 'DELETE'],
    ['$download-resource?_jobResourceId=1', 'GET'],
    ['metadata', 'GET'],
  ] as const) {
    const init = { method, headers: { 'content-type': 'application/fhir+json' } };
    const { status, text } = await ask(token, path, REASON, init);
    expect([path, status]).toEqual([path, 403]);
    expect(text).toContain('Break-Glass');
  }
  for (const path of ['/', '/search/Patient'])
    expect([path, (await fetch(served.base + path, { headers: { 'break-glass': REASON } })).status]).toEqual([
      path,
      403,
    ]);
  // Without a token the answer does not reveal whether the glass could be broken.
  const anonymous = await fetch(`${served.fhir}/Patient/1`, { headers: { 'break-glass': REASON } });
  expect(anonymous.status).toBe(401);
});

test('the audit shows user and reason to privacy officer and patient; the log does not', async () => {
  const token = await tokenOf('doctor', 'user/*.rs');
  await ask(token, 'Observation/w-8', `${REASON} audit`);
  const own = await tokenOf('anna', 'launch/patient patient/AuditEvent.rs');
  const { entry } = JSON.parse((await ask(own, 'AuditEvent?patient=1&_count=200')).text) as {
    readonly entry: readonly { readonly resource: object }[];
  };
  const [event] = entry.map(({ resource }) => resource).filter(one => JSON.stringify(one).includes(`${REASON} audit`));
  const why = [{ coding: [{ code: 'BTG', system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason' }] }];
  expect(event).toMatchObject({ purposeOfEvent: why });
  expect(JSON.stringify(event)).toContain(`"detail":[{"type":"break-glass","valueString":"${REASON} audit"}]`);
  const { agent } = event as { readonly agent: readonly { readonly who?: object; readonly purposeOfUse?: object }[] };
  expect(agent.some(one => one.purposeOfUse !== undefined && JSON.stringify(one.who).includes('Practitioner/7'))).toBe(
    true,
  );

  const { out } = await lintel({ DATA_DIR: served.folder }, 'audit', '--break-glass', '--json');
  const lines = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { readonly glass: string; readonly status: number });
  expect(lines.every(({ glass }) => typeof glass === 'string')).toBe(true);
  // Refused attempts are listed as well.
  expect(lines.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 403]));
  expect(served.lines.join('\n')).not.toContain('Unconscious');
});

test('without a rule in the pack it is refused with that reason', async () => {
  const other = await serveSmart(
    {},
    { 'visit.yaml': VISITS, 'access.yaml': 'users: { Practitioner: { patients: all } }\n' },
  );
  try {
    const { body } = await launch(other, { user: 'doctor', scope: 'user/*.rs' });
    const headers = { authorization: `Bearer ${body['access_token']}`, 'break-glass': REASON.slice(0, 20) };
    const refused = await fetch(`${other.fhir}/Patient/1`, { headers });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('not available on this server'),
    ]);
  } finally {
    await other.stop();
  }
});
