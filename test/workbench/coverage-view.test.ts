/**
 * Coverage as the page requests it: the test kit's expected verdict on a small pack, its documents, and a guide in the
 * pack.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WireCoverage } from '../../src/workbench/wire/coverage.ts';
import type { WireCheck } from '../../src/workbench/wire/mapping.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

const PEOPLE = `mapping: people
resource: Patient
profile: us-core-patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  gender: { from: SEX, via: sex, else: unknown }
  birthDate: { from: BORN }
`;

const GUIDE = {
  people: {
    type: 'Patient',
    profile: 'us-core-patient',
    mustSupport: 'name(family), birthDate, photo',
    shall: ['birthdate'],
  },
};

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
  writeFileSync(join(bench.clinic.pack, 'ours.guide.json'), JSON.stringify(GUIDE));
  writeFileSync(join(bench.clinic.pack, 'broken.guide.json'), '{ "people": { "type": "Patient" } }');
  writeFileSync(join(bench.clinic.pack, 'ccds.yaml'), 'lists:\n  vital-signs: Observation?code=29463-7\n');
});
afterAll(() => bench.close());

async function coverage(guide: string): Promise<{ readonly status: number; readonly is: WireCoverage }> {
  const answer = await bench.post('coverage', { unsaved: { 'person.yaml': PEOPLE }, guide });
  return { status: answer.status, is: (await answer.json()) as WireCoverage };
}

test('an unsaved claim is used, and the predicted failures and skips are listed', async () => {
  const { is } = await coverage('us-core-6.1.0');
  const patient = is.profiles.find(({ profile }) => profile === 'us-core-patient');
  expect(patient).toMatchObject({ verdict: 'gaps', mappings: ['people'], resources: 2 });
  expect(patient?.kit).toEqual({
    verdict: 'fail',
    because: [
      'Search identifier: identifier is not offered, so its test fails.',
      expect.stringMatching(
        /^Not mapped: identifier, .*\. The tests look for it in all resources and skip without it\.$/,
      ),
      'Search _revinclude=Provenance:target: no Provenance has Patient as its target, so its test is skipped.',
    ],
  });
  expect(patient?.elements.find(({ element }) => element === 'birthDate')).toMatchObject({
    state: 'filled',
    resources: 1,
    place: { file: 'person.yaml', line: 9 },
  });
  const allergy = is.profiles.find(({ profile }) => profile === 'us-core-allergyintolerance');
  expect(allergy?.kit).toEqual({
    verdict: 'skip',
    because: [
      'The tests find no AllergyIntolerance of us-core-allergyintolerance: no mapping claims the profile. ' +
        'Write `profile: us-core-allergyintolerance` in one.',
    ],
  });
  expect(is.certification.map(({ verdict }) => verdict)).toEqual(['gaps', 'gaps']);
  expect(is.guides).toEqual(['us-core-6.1.0', 'us-core-7.0.0', 'broken', 'ours']);
});

test('documents show lists without a search, and lists without results', async () => {
  const { topics } = (await coverage('ours')).is;
  const topic = (name: string) => topics.find(one => one.name === name);
  expect(topic('vital-signs')).toMatchObject({
    verdict: 'ready',
    lists: [{ list: 'vital-signs', type: 'Observation', state: 'filled' }],
    missing: [],
  });
  expect(topic('medication-allergies')).toMatchObject({
    verdict: 'not mapped',
    missing: [
      'ccds.yaml has no search for `allergies` (AllergyIntolerance), so this part of the document stays empty.',
    ],
  });
  expect(topic('all-patient-data')?.verdict).toBe('gaps');
});

test('a guide of the pack is measured, without certification', async () => {
  const { is } = await coverage('ours');
  expect(is).toMatchObject({ guide: 'ours', certification: [], sample: 200 });
  expect(is.profiles).toMatchObject([
    {
      profile: 'us-core-patient',
      verdict: 'gaps',
      elements: [
        { element: 'name', state: 'filled' },
        { element: 'name.family', state: 'filled', resources: 2 },
        { element: 'birthDate', resources: 1 },
        { element: 'photo', state: 'unmapped' },
      ],
      searches: [{ search: 'birthdate', strength: 'SHALL', offered: true }],
    },
  ]);
  expect(is.profiles[0]).not.toHaveProperty('kit');
});

test('invalid guides are refused', async () => {
  expect((await coverage('../ours')).status).toBe(404);
  expect(await coverage('broken')).toMatchObject({
    status: 409,
    is: { error: expect.stringMatching(/^broken\.guide\.json:1:13: key `profile` is missing/) },
  });
});

test('an unsaved guide is used, and its errors are problems at their place', async () => {
  const text = JSON.stringify({ people: { ...GUIDE.people, mustSupport: 'gender' } });
  const unsaved = { 'person.yaml': PEOPLE, 'ours.guide.json': text };
  const { profiles } = await bench.asked<WireCoverage>('coverage', { unsaved, guide: 'ours' });
  expect(profiles.map(({ elements }) => elements.map(({ element }) => element))).toEqual([['gender']]);
  const { problems, mappings } = await bench.asked<WireCheck>('check', {
    unsaved: { ...unsaved, 'ours.guide.json': text.replace('Patient', 'Pateint') },
  });
  const of = (path: string) => problems.filter(({ place }) => place.file === path);
  expect(of('ours.guide.json')).toMatchObject([
    { severity: 'error', place: { line: 1, column: 19 }, fix: { found: 'Pateint', suggestion: 'Patient' } },
  ]);
  expect(of('broken.guide.json').map(({ text: told }) => told)).toEqual([
    'key `profile` is missing [LNT-404]',
    'key `mustSupport` is missing [LNT-404]',
  ]);
  // A faulty guide does not prevent the preview of a mapping.
  expect(mappings?.map(({ name }) => name)).toContain('people');
});

test('leaving the page cancels the work, without terminal output', async () => {
  const body = { unsaved: {}, guide: 'us-core-6.1.0' };
  const signal = AbortSignal.abort();
  await bench.post('coverage', body, signal);
  await bench.post('tests', { unsaved: {} }, signal);
  await bench.post('codes/held', { unsaved: {}, map: 'sex' }, signal);
  expect(bench.told).toEqual([]);
});
