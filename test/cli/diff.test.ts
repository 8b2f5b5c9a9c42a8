import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** A clinic with a second pack: the first with other files. */
function withOther(files: Readonly<Record<string, string>>) {
  const clinic = smallClinic();
  const other = join(clinic.folder, 'other');
  cpSync(clinic.pack, other, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(other, name), text);
  return (...more: string[]) => lintel(clinic.environment, 'diff', clinic.pack, other, ...more);
}

const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { SEX: F } }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME, via: upper } } ]
  gender: { from: SEX, via: sex }
  active: true
`;

test('lists added, removed and changed resources, searches and elements, without values', async () => {
  const run = withOther({ 'person.yaml': PEOPLE });
  const { code, out } = await run();
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    'Patient: 2 → 1 resource',
    '  searches gone   birthdate',
    '  searches added  active',
    '  of 2 resources compared: 1 gone, 0 added, 1 changed',
    '    active: added in 1',
    '    birthDate: gone in 1',
    '    name.family: changed in 1',
  ]);
  const { types } = JSON.parse((await run('--json')).out);
  const [patient] = types.filter(({ type }: { type: string }) => type === 'Patient');
  expect(patient).toMatchObject({
    resources: { old: 2, new: 1 },
    sample: { compared: 2, gone: 1, added: 0, changed: 1 },
  });
  expect(JSON.stringify(types)).not.toMatch(/Kowalski|KOWALSKI|1970/);
});

test('the resources of a type that one pack lacks count as gone', async () => {
  const run = withOther({ 'weighing.yaml': '' });
  const { out } = await run();
  expect(out).toContain('Observation: 2 → 0 resources\n');
  expect(out).toContain('  of 2 resources compared: 2 gone, 0 added, 0 changed');
});

test('packs that serve the same data have no difference, whatever their files look like', async () => {
  const run = withOther({
    'codes.yaml':
      'sex: { system: http://hl7.org/fhir/administrative-gender, rows: { F: female, M: male } } # as before\n',
  });
  expect(await run()).toMatchObject({
    code: 0,
    out: 'Nothing differs in the 16 resources that were compared. The texts of codes.yaml differ; a larger --sample looks at more rows.',
  });
  const same = await withOther({})();
  expect(same.out).toBe('Nothing differs in the 16 resources that were compared. The texts of the packs are the same.');
  expect((await run('--sample', '0')).code).toBe(2);
});

test('more resources than a page has are compared', async () => {
  const clinic = smallClinic();
  const run = (...more: string[]) =>
    lintel({ ...clinic.environment, PAGE_MAX: '1', PAGE_SIZE: '1' }, 'diff', clinic.pack, ...more);
  const other = join(clinic.folder, 'other');
  cpSync(clinic.pack, other, { recursive: true });
  writeFileSync(join(other, 'person.yaml'), PEOPLE.replace(', where: { SEX: F }', ''));
  expect((await run(other)).out).toContain('of 2 resources compared: 0 gone, 0 added, 2 changed');
  expect((await run(other, '--sample', '1')).out).toContain('of 1 resource compared');
});

test('every mapping of a type is compared, with its rare values, however large the others are', async () => {
  const clinic = smallClinic();
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec(`CREATE TABLE LAB (NO INTEGER PRIMARY KEY, PERSON_ID INTEGER NOT NULL, KIND TEXT NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO LAB SELECT i, 1, iif(i % 400 = 17, 'rare', 'usual') FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO WEIGHING SELECT 1000 + i, PERSON_ID, TAKEN, KG FROM n, (SELECT * FROM WEIGHING LIMIT 1)`);
  database.close();
  const lab = (text: string) => `mapping: z-lab
resource: Observation
source: { table: LAB, as: l, key: [NO] }
id: "lab-{NO}"
needs: [code]
elements:
  status: { first: [{ const: amended, if: { KIND: rare } }, final] }
  code: { text: ${text} }
  subject: { ref: people, on: { ID: PERSON_ID } }
`;
  const other = join(clinic.folder, 'other');
  writeFileSync(join(clinic.pack, 'lab.yaml'), lab('{ from: KIND }'));
  cpSync(clinic.pack, other, { recursive: true });
  writeFileSync(join(other, 'lab.yaml'), lab('{ first: [{ const: seldom, if: { KIND: rare } }, { from: KIND }] }'));
  const { out, code } = await lintel(clinic.environment, 'diff', clinic.pack, other);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^Observation: 6002 → 6002 resources\n {2}of \d+ resources compared: 0 gone, 0 added, \d+ changed\n {4}code\.text: changed in \d+$/m,
  );
});

test('a pack with errors is reported', async () => {
  const run = withOther({ 'person.yaml': 'mapping: people\n' });
  const { code, notes } = await run();
  expect(code).toBe(1);
  expect(notes).toContain('person.yaml');
});
