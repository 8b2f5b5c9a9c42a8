/**
 * Keys that make an id of more than 64 characters: such a row is no resource, and is absent everywhere. In a foreign
 * database with UUIDs as texts and a join table of two of them, allergies were counted and found by references, but
 * never served.
 */
import { expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { openSmall, openSmallFacade } from './small-pack.ts';

const PATIENT = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';
const LONG = `${'x'.repeat(60)}-9`;

const SCHEMA = `
CREATE TABLE patients (id TEXT PRIMARY KEY COLLATE RTRIM, last_name TEXT);
CREATE TABLE allergies (patient_id TEXT COLLATE RTRIM, code TEXT COLLATE RTRIM, n INTEGER, PRIMARY KEY (patient_id, code, n));
INSERT INTO patients VALUES ('${PATIENT}', 'Groß'), ('${LONG}', 'Lang'), ('${LONG}99', 'Longer'), ('${LONG}9999', 'Longest');
INSERT INTO allergies VALUES
  ('${PATIENT}', 'nuts', 1), ('${PATIENT}', 'a/b/c/d/e/f/g', 1), ('${PATIENT}', 'a/b/c/d/e/f/g/h/i/j', 1),
  ('${PATIENT}', 'Nüsse', 1), ('${PATIENT}', 'Nüsse & Äpfel', 1), ('${PATIENT}', 'ABCDEFGHIJKLMNOPQRSTUVWXY', 1),
  ('${PATIENT}', 'ABCDEFGHIJKLMNOPQRSTUVWXY', 10), ('${PATIENT}', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 1);
`;

const PACK = {
  'pack.yaml': 'name: praxis\ntitle: Praxis\nzone: UTC\n',
  'patient.yaml': `
mapping: people
resource: Patient
source: { table: patients, as: p, key: [id] }
id: "{id}"
elements:
  name: [{ family: { from: last_name } }]
`,
  'allergy.yaml': `
mapping: allergies
resource: AllergyIntolerance
source: { table: allergies, as: a, key: [patient_id, code, n] }
id: "{patient_id}-{code|escaped}.{n}"
needs: [patient]
elements:
  code: { text: { from: code } }
  patient: { ref: people, on: { id: patient_id } }
`,
};

test('rows with too long ids are not served, counted, found through others, or visible in sorting', async () => {
  const { facade } = await openSmallFacade(SCHEMA, PACK);
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;
  const search = async (query: string) => {
    const [type = '', text = ''] = query.split('?');
    const { json } = await facade.search({ type, parameters: [...new URLSearchParams(text)] }, context);
    const { entry = [], total } = JSON.parse(json) as { entry?: { resource: { id: string } }[]; total?: number };
    return { ids: entry.map(({ resource }) => resource.id).toSorted(), total };
  };
  const served = [
    `${PATIENT}-ABCDEFGHIJKLMNOPQRSTUVWXY.1`,
    `${PATIENT}-N.C3.BCsse.1`,
    `${PATIENT}-a.2Fb.2Fc.2Fd.2Fe.2Ff.2Fg.1`,
    `${PATIENT}-nuts.1`,
  ];
  expect(await search('AllergyIntolerance?_total=accurate')).toEqual({ ids: served, total: 4 });
  expect((await search('AllergyIntolerance?_summary=count')).total).toBe(4);
  expect((await search('AllergyIntolerance?_sort=-_id&_count=50')).ids).toEqual(served);
  expect((await search(`AllergyIntolerance?patient=${PATIENT}`)).ids).toEqual(served);
  expect((await search(`Patient?_id=${PATIENT}&_revinclude=AllergyIntolerance:patient`)).ids).toHaveLength(5);
  expect((await search('Patient?_total=accurate')).total).toBe(3);
  expect((await search('Patient?family=longest')).ids).toEqual([]);
  for (const id of served) expect((await facade.read('AllergyIntolerance', id, [], context))?.json).toContain(id);
});

test('no resource is found through a row that is not served', async () => {
  const long = SCHEMA.replace("'nuts'", `'${'n'.repeat(40)}'`);
  const { facade } = await openSmallFacade(long.replace(/,\s*\('[^']*', 'a\/b[^;]*/, ''), PACK);
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;
  const { json } = await facade.search(
    { type: 'Patient', parameters: [[`_has:AllergyIntolerance:patient:_id`, `${PATIENT}-${'n'.repeat(40)}.1`]] },
    context,
  );
  expect(JSON.parse(json).total).toBe(0);
  const missing = await facade.search(
    {
      type: 'AllergyIntolerance',
      parameters: [
        ['patient:missing', 'false'],
        ['_summary', 'count'],
      ],
    },
    context,
  );
  expect(JSON.parse(missing.json).total).toBe(0);
});

test('a reference from own columns is absent if they form no valid id', async () => {
  const schema = `CREATE TABLE patients (id TEXT PRIMARY KEY COLLATE RTRIM); CREATE TABLE visits (n INTEGER PRIMARY KEY, pid TEXT);
    INSERT INTO visits VALUES (1, 'a'), (2, '${'x'.repeat(65)}'), (3, 'a/b'), (4, '${'x'.repeat(64)}'), (5, NULL), (6, ' ');`;
  const search = await openSmall(schema, {
    'pack.yaml': PACK['pack.yaml'],
    'patient.yaml': PACK['patient.yaml'].replace(
      'elements:\n  name: [{ family: { from: last_name } }]',
      'elements:\n  active: true',
    ),
    'visit.yaml': `
mapping: visits
resource: Encounter
source: { table: visits, as: v, key: [n] }
id: "{n}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  subject: { ref: people, on: { id: pid }, exists: false }
`,
  });
  const { resources } = await search('Encounter');
  expect(resources.filter(one => one['subject'] !== undefined).map(({ id }) => id)).toEqual(['1', '4']);
  expect((await search('Encounter?subject:missing=false')).ids).toEqual(['1', '4']);
  expect((await search('Encounter?subject:missing=true')).ids).toEqual(['2', '3', '5', '6']);
});
