/** A table with rows of two kinds, which tables with the same key distinguish: each mapping requires its own. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

const mapping = (name: string, kind: string): string => `mapping: ${name}
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
  lookup: { k: { table: ${kind}, on: { ID: ID }, required: true } }
id: "${name}-{ID}"
elements: { active: "true" }
`;

/** Forty people: of every four, one is staff, `neither` have no kind, and the others are patients. */
async function check(neither: 0 | 1): Promise<string> {
  const { folder, environment } = smallClinic({
    'person.yaml': `${mapping('people', 'PATIENT_ROW')}---\n${mapping('staff', 'STAFF_ROW')}`,
    'weighing.yaml': '',
    'codes.yaml': '{}\n',
  });
  const database = new DatabaseSync(join(folder, 'clinic.sqlite'));
  database.exec(`DELETE FROM WEIGHING; DELETE FROM PERSON;
    CREATE TABLE PATIENT_ROW (ID INTEGER PRIMARY KEY);
    CREATE TABLE STAFF_ROW (ID INTEGER PRIMARY KEY);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO PERSON (ID, SURNAME) SELECT i, 'Name' FROM n;
    INSERT INTO STAFF_ROW SELECT ID FROM PERSON WHERE ID % 4 = 0;
    INSERT INTO PATIENT_ROW SELECT ID FROM PERSON WHERE ID % 4 > ${neither};`);
  database.close();
  return (await lintel(environment, 'check')).out;
}

test('rows that another mapping of the table serves are not reported as excluded by a required lookup', async () => {
  const out = await check(0);
  expect(out).toContain(' 0 errors, 0 warnings');
  expect(out).not.toContain('takes away');
});

test('rows that no mapping serves are reported with their number, at each required lookup', async () => {
  const told = [...(await check(1)).matchAll(/`required` takes away (\d+) rows of (\d+)/g)].map(([, taken, of]) => [
    taken,
    of,
  ]);
  expect(told).toEqual([
    ['10', '40'],
    ['10', '40'],
  ]);
});
