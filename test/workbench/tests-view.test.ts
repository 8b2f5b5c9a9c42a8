/**
 * The tests beside the mappings as the page runs them: unsaved texts count, and a failure has its line and both values.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenedBench, openBench } from './opened-bench.ts';

const TEST = `# A woman.
mapping: people
rows:
  PERSON: [{ ID: 1, SURNAME: Kowalski, SEX: F }]
resource: { gender: female }
matches: [gender=female]
misses: [gender=male]
---
mapping: people
rows:
  PERSON: [{ ID: 2, SURNAME: Kowalski, SEX: M }]
resource: { gender: male }
`;

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
  writeFileSync(join(bench.clinic.pack, 'person.test.yaml'), TEST);
});
afterAll(() => bench.close());

const run = (unsaved: Readonly<Record<string, string>>): Promise<unknown> => bench.asked('tests', { unsaved });

test('passing tests have no failures', async () => {
  expect(await run({})).toEqual({
    cases: [
      { mapping: 'people', place: { file: 'person.test.yaml', line: 2, column: 1 }, failures: [] },
      { mapping: 'people', place: { file: 'person.test.yaml', line: 9, column: 1 }, failures: [] },
    ],
  });
});

test('the unsaved texts of test and code map are run', async () => {
  const changed = await run({ 'person.test.yaml': TEST.replace('gender: male', 'gender: other') });
  expect(changed).toMatchObject({
    cases: [
      { failures: [] },
      {
        failures: [
          { place: { line: 12, column: 21 }, expected: 'other', found: 'male', message: 'Patient.gender is another' },
        ],
      },
    ],
  });
  const swapped = 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { F: other, M: male }\n';
  expect(await run({ 'codes.yaml': swapped })).toMatchObject({
    cases: [
      {
        failures: [
          { place: { line: 5 }, expected: 'female', found: 'other' },
          { place: { line: 6 }, message: 'finds no Patient, and should' },
        ],
      },
      { failures: [] },
    ],
  });
});

test('a pack with errors runs no test, and that is reported', async () => {
  expect(await run({ 'codes.yaml': 'sex: { rows: { F: ' })).toEqual({});
});

test('an invalid YAML file fails as a test', async () => {
  expect(await run({ 'person.test.yaml': 'mapping: {' })).toMatchObject({
    cases: [{ mapping: 'person.test.yaml', failures: [{ place: { file: 'person.test.yaml', line: 1 } }] }],
  });
});
