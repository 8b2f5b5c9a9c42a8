/** Break-glass at the REST interface and in C-CDA documents, with the demo's labels. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { glassOf } from '../../src/access/glass.ts';
import { seeingPatients } from '../../src/audit/patients-in.ts';
import type { AuditRecord } from '../../src/audit/record.ts';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { PackAccess } from '../../src/auth/rules.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { type RestUnderTest, restUnderTest } from './rest-under-test.ts';

const ACT = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
const REASON = { 'break-glass': 'Found unconscious in the street' };

const RULES: PackAccess = {
  users: [{ user: 'Practitioner', patients: 'all', also: [] }],
  labels: [{ hide: [`${ACT}|SUD`, `${ACT}|PSY`], users: [], purposes: [] }],
  glass: { users: [{ type: 'Practitioner', found: [['_id', '1']] }], clients: ['rest'], opens: ['labels'] },
};

const records: AuditRecord[] = [];
let demo: Demo;
let rest: RestUnderTest;
beforeAll(async () => {
  demo = await openDemo({ patients: 40 });
  const facade = seeingPatients(demo.facade);
  const audit = { write: async (record: AuditRecord) => void records.push(record) };
  rest = await restUnderTest(facade, {}, undefined, { audit, glass: glassOf(facade, RULES) }, RULES);
  const anna = rest.accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  rest.accounts.set('anna', { ...anna, fhirUser: 'Practitioner/1' });
  rest.accounts.set('other', { ...anna, name: 'other', fhirUser: 'Practitioner/2' });
});
afterAll(() => demo.close());

interface Labelled {
  readonly patient: string;
  /** Text of the problem. */
  readonly text: string;
}

async function labelled(): Promise<Labelled> {
  const context = { access: OPEN_ACCESS, base: 'http://x', handling: 'strict' } as const;
  const parameters = [
    ['_security', `${ACT}|SUD,${ACT}|PSY`],
    ['clinical-status', 'active'],
  ] as const;
  const { json } = await demo.facade.search({ type: 'Condition', parameters }, context);
  const { entry } = JSON.parse(json) as {
    readonly entry: readonly {
      readonly resource: { code: { coding: readonly { code: string }[] }; subject: { reference: string } };
    }[];
  };
  const [first] = entry;
  return {
    patient: first?.resource.subject.reference.slice('Patient/'.length) ?? '',
    text: first?.resource.code.coding[0]?.code ?? '',
  };
}

test('a document has hidden data only with a reason, which is in the audit', async () => {
  const { patient, text } = await labelled();
  expect([patient, text]).not.toContain('');
  const client = await rest.client();
  const path = `/api/${patient}/ccds/api/problems`;
  for (let round = 0; round < 2; round++) {
    const whole = await client.get(path);
    const [before, broken] = [await whole.text(), await client.get(path, REASON)];
    expect([whole.status, before.includes(text), whole.headers.get('break-glass')]).toEqual([200, false, null]);
    expect([broken.status, (await broken.text()).includes(text)]).toEqual([200, true]);
    expect(broken.headers.get('break-glass')).toBe('labels');
    expect(records.at(-1)).toMatchObject({
      who: { client: 'rest', subject: 'anna', user: 'Practitioner/1' },
      glass: REASON['break-glass'],
      patients: [patient],
    });
  }
});

test('a forbidden account, a short reason and a login with the header are refused in the form of the interface', async () => {
  const client = await rest.client();
  const anna = rest.accounts.get('anna');
  const other = rest.accounts.get('other');
  if (anna === undefined || other === undefined) throw new Error('there are no accounts');
  rest.accounts.set('anna', { ...anna, fhirUser: 'Practitioner/2' });
  const refused = await client.get('/api/patientinfo/1', REASON);
  expect([refused.status, await refused.json()]).toMatchObject([403, { error: 'forbidden' }]);
  rest.accounts.set('anna', anna);
  expect((await client.get('/api/patientinfo/1', REASON)).status).toBe(200);
  expect((await client.get('/api/patientinfo/1', { 'break-glass': 'short' })).status).toBe(400);
  expect((await client.post('/api/users/login', undefined, REASON)).status).toBe(403);
});

test('without an audit break-the-glass is refused', async () => {
  const { facade } = demo;
  const unaudited = await restUnderTest(facade, {}, undefined, { glass: glassOf(facade, RULES) }, RULES);
  const anna = unaudited.accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  unaudited.accounts.set('anna', { ...anna, fhirUser: 'Practitioner/1' });
  const client = await unaudited.client();
  const refused = await client.get('/api/patientinfo/1', REASON);
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('keeps no audit')]);
});
