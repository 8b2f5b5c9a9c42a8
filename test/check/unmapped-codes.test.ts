/**
 * `check` reports codes that a code map lacks once, by the counts of codes, and not again as an element that is never
 * emitted.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

async function problemsWith(codes: string, gender: string): Promise<readonly string[]> {
  const made = smallClinic({
    'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  gender: ${gender}
`,
    'weighing.yaml': '',
    'codes.yaml': codes,
  });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  for (let i = 10; i < 40; i++) writer.exec(`INSERT INTO PERSON VALUES (${i}, 'Kowalski', NULL, 'W')`);
  writer.exec(`DELETE FROM PERSON WHERE SEX <> 'W'`);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

test('a code map without a row for any value is not reported twice', async () => {
  expect(await problemsWith('sex:\n  rows: { F: female, M: male }\n', '{ from: SEX, via: sex }')).toEqual([]);
});

test('a code map that makes all values absent is not reported', async () => {
  expect(await problemsWith('sex:\n  rows: { F: female, W: absent }\n', '{ from: SEX, via: sex }')).toEqual([]);
});

test('a code map that lacks all values and has `else: absent` is reported', async () => {
  const [problem] = await problemsWith('sex:\n  rows: { F: female }\n  else: absent\n', '{ from: SEX, via: sex }');
  expect(problem).toContain('Patient.gender is never emitted though SEX has a value');
});

test('values that all fall back to the `else` of the map are reported', async () => {
  const [problem] = await problemsWith('sex:\n  rows: { F: female }\n  else: unknown\n', '{ from: SEX, via: sex }');
  expect(problem).toContain('every value of SEX falls to `else`');
});
