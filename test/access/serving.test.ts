/**
 * Tests that a whole server enforces the rules of a pack: for apps, for users of its pages, and after a change of the
 * pack.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { accessOfAccounts } from '../../src/auth/granted.ts';
import { NO_RULES } from '../../src/auth/rules.ts';
import type { Facade } from '../../src/facade.ts';
import { chartsOf } from '../../src/smart/charts.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { NAMELESS, smallClinic, VISITS } from '../cli/small-clinic.ts';
import { type Demo, demoOver, openDemo } from '../law/demo.ts';
import { restUnderTest } from '../rest/rest-under-test.ts';
import { authorize, launch, read, type Served, serveSmart } from '../smart/served.ts';

const rules = (search: string): string => `users: { Practitioner: { patients: '${search}' } }\n`;

test('an app sees the patients that the rules permit to its user, and follows changed rules', {
  timeout: 600_000,
}, async () => {
  const served: Served = await serveSmart(
    { RELOAD_INTERVAL: '1' },
    { 'visit.yaml': VISITS, 'access.yaml': rules('Patient?gender=female') },
  );
  try {
    const { body } = await launch(served, { user: 'doctor', scope: 'user/*.rs' });
    const token = body['access_token'];
    expect(await read(served, 'Patient/1', token)).toBe(200);
    expect(await read(served, 'Patient/2', token)).toBe(404);

    // The server decides anew for the same token.
    writeFileSync(join(served.folder, '../pack/access.yaml'), rules('Patient?gender=male'));
    await expect.poll(() => read(served, 'Patient/2', token)).toBe(200);
    expect(await read(served, 'Patient/1', token)).toBe(404);

    // The pages of the authorization server offer the same patients.
    const { seen } = await authorize(served, { user: 'doctor', scope: 'launch/patient patient/*.rs' });
    expect(seen.map(({ html }) => html.includes('Müller'))).toContain(true);
    expect(seen.map(({ html }) => html.includes('Kowalski'))).not.toContain(true);

    // A file with errors changes nothing.
    writeFileSync(join(served.folder, '../pack/access.yaml'), rules('Patient?gendre=female'));
    await new Promise(resolve => setTimeout(resolve, 2500));
    expect(await read(served, 'Patient/1', token)).toBe(404);
    expect(await read(served, 'Patient/2', token)).toBe(200);
  } finally {
    await served.stop();
  }
});

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 8 });
});
afterAll(() => demo.close());

const USERS = [{ user: 'Practitioner', patients: [['gender', 'female']] as const, also: [] }];

/** Logical ids; the REST interface uses them as numbers. */
async function patients(facade: Facade, gender: string): Promise<readonly string[]> {
  const context = { access: OPEN_ACCESS, base: 'http://x', handling: 'strict' } as const;
  const { json } = await facade.search({ type: 'Patient', parameters: [['gender', gender]] }, context);
  const { entry } = JSON.parse(json) as { readonly entry: readonly { readonly resource: { readonly id: string } }[] };
  return entry.map(({ resource }) => resource.id);
}

test('an account sees at the REST interface the patients that the rules permit', { timeout: 600_000 }, async () => {
  const rest = await restUnderTest(demo.facade, {}, undefined, {}, { ...NO_RULES, users: USERS });
  const { accounts } = rest;
  const anna = accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  const client = await rest.client();
  const [[woman = ''], [man = '']] = await Promise.all([
    patients(demo.facade, 'female'),
    patients(demo.facade, 'male'),
  ]);
  const paths = (id: string): readonly string[] => [
    `/api/patientinfo/${id}`,
    `/api/${id}/ccds/api/list-encounters`,
    `/api/${id}/ccds/api/problems`,
    `/api/${id}/ccds/api/all-patient-data`,
    `/api/chart/${id}`,
  ];
  const statuses = (id: string) => Promise.all(paths(id).map(async path => (await client.get(path)).status));

  // An account without `fhirUser` sees everything, because the server is open.
  expect([await statuses(woman), await statuses(man)]).toEqual([all(200), all(200)]);

  accounts.set('anna', { ...anna, fhirUser: 'Practitioner/1' });
  expect([await statuses(woman), await statuses(man)]).toEqual([all(200), all(404)]);
  const listed = await (await client.get('/api/patientsummary?lastName=')).text();
  expect(listed).not.toContain(`"patientId":${man},`);

  // A patient sees their own record; no rule permits another.
  accounts.set('anna', { ...anna, fhirUser: `Patient/${man}` });
  expect([await statuses(woman), await statuses(man)]).toEqual([all(404), all(200)]);
  accounts.set('anna', { ...anna, fhirUser: 'RelatedPerson/1' });
  expect([await statuses(woman), await statuses(man)]).toEqual([all(403), all(403)]);

  function all(status: number): readonly number[] {
    return paths('').map(() => status);
  }
});

test('an account without a linked person sees nothing unless access is open', () => {
  const account = { name: 'anna', password: '', disabled: false };
  expect(accessOfAccounts(NO_RULES, true)(account).kind).toBe('all');
  expect(accessOfAccounts(NO_RULES, false)(account)).toMatchObject({ kind: 'limited', permissions: [] });
});

test('patient lookup by an unsearchable parameter finds nobody, not everybody', async () => {
  const { environment, pack } = smallClinic({ 'person.yaml': NAMELESS, 'visit.yaml': VISITS });
  const database = await openSqlite((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  const { facade, close } = await demoOver(database, undefined, pack);
  const charts = chartsOf(
    {
      facade: () => facade,
      rules: () => ({ ...NO_RULES, users: [{ user: 'Practitioner', patients: 'all', also: [] }] }),
      fhirBase: 'http://x/fhir',
      timeLimit: 10_000,
    },
    '192.0.2.1',
  );
  const doctor = { name: 'doctor', password: '', disabled: false, fhirUser: 'Practitioner/1' };
  expect((await charts.patients(doctor)).items).toHaveLength(2);
  expect((await charts.patients(doctor, 'Kowalski')).items).toEqual([]);
  expect((await charts.encounters(doctor, '1')).items).toHaveLength(2);
  await close();
});
