/**
 * The initial text of a new file of a pack, as the page requests it: it is valid, or lacks only what the cursor is at.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WireBeginning, WireCheck, WireCompletion } from '../../src/workbench/wire/mapping.ts';
import type { WireTests } from '../../src/workbench/wire/tests.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

async function begun(path: string) {
  const beginning = await bench.asked<WireBeginning>('begin', { unsaved: {}, path });
  const lines = beginning.text.split('\n');
  const offset =
    lines.slice(0, beginning.line - 1).join('\n').length + (beginning.line > 1 ? 1 : 0) + beginning.column - 1;
  const { problems } = await bench.asked<WireCheck>('check', { unsaved: { [path]: beginning.text } });
  const { options } = await bench.asked<WireCompletion>('complete', {
    unsaved: {},
    path,
    text: beginning.text,
    offset,
  });
  return {
    text: beginning.text,
    /** Text before the cursor. */
    before: lines[beginning.line - 1]?.slice(0, beginning.column - 1),
    errors: problems.filter(({ severity }) => severity === 'error').map(({ text }) => text),
    offered: options.map(({ label }) => label),
  };
}

test('a mapping begins with the type and table of its name, its key, and the place of the first element', async () => {
  const { text, before, offered } = await begun('patient.yaml');
  expect(text).toBe(`mapping: patient
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
id: "patient-{ID}"
elements:
  
`);
  expect(before).toBe('  ');
  expect(offered).toEqual(expect.arrayContaining(['name', 'birthDate']));
});

test('types or tables are offered first if the name does not determine them', async () => {
  const weighing = await begun('weighings/weighing.yaml');
  expect(weighing).toMatchObject({ before: 'resource: ', offered: expect.arrayContaining(['Observation']) });
  expect(weighing.text).toContain('  table: WEIGHING\n  as: w\n  key: [NO]\nid: "{NO}"\n');
  expect((await begun('weighings.yaml')).text).toContain('  table: WEIGHING\n');
  const visits = await begun('visits.yaml');
  expect(visits).toMatchObject({ before: '  table: ', offered: expect.arrayContaining(['PERSON', 'WEIGHING']) });
  expect(visits.text).toContain('resource: Encounter\n');
});

test('a new test has a row of its mapping, and passes', async () => {
  const path = 'person.test.yaml';
  const { text, before, offered } = await begun(path);
  expect(before).toBe('  PERSON: { ID: 1');
  expect(offered).toEqual([]);
  const { cases } = await bench.asked<WireTests>('tests', { unsaved: { [path]: text } });
  expect(cases).toMatchObject([{ mapping: 'people', failures: [] }]);
  expect(await begun('other.test.yaml')).toMatchObject({
    ...{ before: 'mapping: ', offered: expect.arrayContaining(['people', 'weights']) },
  });
});

test.each<[path: string, before: string, offered: readonly string[]]>([
  ['lab-test.codes.yaml', '  system: ', ['loinc', 'ucum']],
  ['sex.codes.yaml', '  system: http://hl7.org/fhir/administrative-gender', []],
  ['ours.guide.json', '    "type": "Patient', ['Patient']],
  ['pack.yaml', '', ['deny', 'absent']],
])('a new %s has the cursor at its next word', async (path, before, some) => {
  const { before: found, offered } = await begun(path);
  expect(found).toBe(before);
  expect(offered).toEqual(expect.arrayContaining([...some]));
});

test.each(['pack.yaml', 'ours.guide.json', 'gender.codes.yaml', 'some.csv', 'access.yaml', 'ccds.yaml', 'other.json'])(
  'a new %s has no errors',
  async path => {
    const { errors } = await begun(path);
    expect(errors).toEqual([]);
  },
);
