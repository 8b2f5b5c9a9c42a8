import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

test('tells resources, searches and elements that come, go and change, and no value', async () => {
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

test('a type that one pack lacks is gone as a whole', async () => {
  const run = withOther({ 'weighing.yaml': '' });
  const { out } = await run();
  expect(out).toContain('Observation: 2 → 0 resources\n');
  expect(out).toContain('  of 2 resources compared: 2 gone, 0 added, 0 changed');
});

test('packs that serve the same differ in nothing, whatever their files look like', async () => {
  const run = withOther({
    'codes.yaml':
      'sex: { system: http://hl7.org/fhir/administrative-gender, rows: { F: female, M: male } } # as before\n',
  });
  expect(await run()).toMatchObject({ code: 0, out: 'Nothing differs.' });
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

test('a pack with errors is told', async () => {
  const run = withOther({ 'person.yaml': 'mapping: people\n' });
  const { code, notes } = await run();
  expect(code).toBe(1);
  expect(notes).toContain('person.yaml');
});
