/** Child rows with a condition that compares them with the row around: the section `rows` counts what it can. */
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
  gender: { from: SEX, via: sex }
  link:
    - each: { table: OLD, as: s, on: { NATIONAL: NATIONAL }, order: [ID] }
      item: { other: { ref: people, on: { ID: s.ID } }, type: seealso, needs: [other], if: { none: { s.ID: { same-as: o.ID } } } }
`;
const CODES = 'sex: { system: http://hl7.org/fhir/administrative-gender, rows: { F: female } }\n';

test('no statement is refused, and the other counts are there', async () => {
  const made = smallClinic({ 'person.yaml': PEOPLE, 'weighing.yaml': '', 'codes.yaml': CODES });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec('CREATE TABLE OLD (ID INTEGER PRIMARY KEY, NATIONAL INTEGER, SEX CHAR(1))');
  for (let i = 0; i < 30; i++) writer.exec(`INSERT INTO OLD (NATIONAL, SEX) VALUES (${Math.floor(i / 2)}, 'F')`);
  writer.close();
  const opened = await open(made);
  const reports = await check(opened, { sections: [ROWS] });
  await opened.close();
  expect(told(reports)).toEqual([]);
  const elements = reports.flatMap(({ tables }) => tables).find(({ name }) => name === 'elements');
  expect(elements?.rows).toEqual([['people', 'gender', 'SEX', 30, 30, 30, 0, 0]]);
});
