/** Zeros in place of a date mean that there is none: `check` reports no lost value. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const PEOPLE = `mapping: people
resource: Patient
source: { table: OLD, as: o, key: [ID] }
id: "{ID}"
elements:
  birthDate: { from: BORN, via: ymd8 }
  deceasedDateTime: { from: DIED, via: [{ written: MM/DD/YYYY }, ymd8] }
`;

async function problemsWith(rows: string): Promise<readonly string[]> {
  const made = smallClinic({ 'person.yaml': PEOPLE, 'weighing.yaml': '', 'codes.yaml': '{}\n' });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec('CREATE TABLE OLD (ID INTEGER PRIMARY KEY, BORN INTEGER, DIED VARCHAR(10) COLLATE RTRIM)');
  for (let i = 0; i < 30; i++) writer.exec(`INSERT INTO OLD (BORN, DIED) VALUES (19800101, '12/31/2020')`);
  writer.exec(`INSERT INTO OLD (BORN, DIED) VALUES ${rows}`);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

test('dates of zeros or blanks are not reported', async () => {
  expect(await problemsWith("(0, '00/00/0000'), (0, '  /  /    ')")).toEqual([]);
});

test('another value that is no date is reported', async () => {
  const problems = await problemsWith("(19801399, '2020-12-31')");
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('Patient.birthDate is absent in 1 row though BORN has a value');
  expect(problems[1]).toContain('Patient.deceasedDateTime is absent in 1 row though DIED has a value');
});
