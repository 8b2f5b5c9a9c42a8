/** A large table without an index on its key or on the patient: reads and searches would scan it. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic, WEIGHTS } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const HEIGHTS = WEIGHTS.replace('mapping: weights', 'mapping: heights').replace('"w-{NO}"', '"h-{NO}"');

interface Made {
  readonly rows: number;
  readonly sql?: string;
  /** The condition of the table's only mapping; without it there are two mappings. */
  readonly where?: string;
}

async function problemsWith({ rows, sql = '', where }: Made): Promise<readonly string[]> {
  const made = smallClinic(where ? { 'weighing.yaml': where } : { 'heights.yaml': HEIGHTS });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`DROP TABLE WEIGHING;
    CREATE TABLE WEIGHING (NO INTEGER NOT NULL, PERSON_ID INTEGER NOT NULL, TAKEN DATETIME, KG DECIMAL(6,2));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO WEIGHING SELECT i, 1, '2024-03-10 08:30:00.000', '61.50' FROM n; ${sql}`);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

const CURE = 'expected an index that begins with it, as `lintel indexes` prints it';

test('a table without an index gives a warning for key and patient column, once for all its mappings', async () => {
  expect(await problemsWith({ rows: 1000 })).toEqual([
    `heights.yaml:1:1: warning: no index finds a row of WEIGHING (1000 rows) by NO; ${CURE}`,
    `heights.yaml:8:12: warning: no index finds the rows of a patient in WEIGHING (1000 rows) by PERSON_ID; ${CURE}`,
  ]);
});

test('a table of child rows without an index gives a warning for the column that finds them', async () => {
  const where = `mapping: people-too
resource: Practitioner
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  telecom: [{ each: { table: WEIGHING, as: w, on: { PERSON_ID: ID }, order: [NO] }, elements: { value: { from: w.KG } } }]
`;
  expect(await problemsWith({ rows: 1000, where })).toEqual([
    `weighing.yaml:6:13: warning: no index finds the child rows in WEIGHING (1000 rows) by PERSON_ID; ${CURE}`,
  ]);
  expect(await problemsWith({ rows: 1000, where, sql: 'CREATE INDEX B ON WEIGHING (PERSON_ID);' })).toEqual([]);
});

test('there is no warning if the table is small, has the indexes, or is a view', async () => {
  expect(await problemsWith({ rows: 999 })).toEqual([]);
  const sql = 'CREATE INDEX A ON WEIGHING (NO); CREATE INDEX B ON WEIGHING (PERSON_ID);';
  expect(await problemsWith({ rows: 1000, sql })).toEqual([]);
  const held = 'ALTER TABLE WEIGHING ADD KIND INTEGER DEFAULT 1; CREATE INDEX A ON WEIGHING (KIND, NO);';
  const where = HEIGHTS.replace('key: [NO] }', 'key: [NO], where: { KIND: 1 } }');
  expect(
    await problemsWith({ rows: 1000, sql: `${held} CREATE INDEX B ON WEIGHING (KIND, PERSON_ID)`, where }),
  ).toEqual([]);
  const view = 'ALTER TABLE WEIGHING RENAME TO W; CREATE VIEW WEIGHING AS SELECT * FROM W;';
  expect(await problemsWith({ rows: 1000, sql: view })).toEqual([]);
});

test('a table whose ids are not of its key needs an index on the columns of the ids, too', async () => {
  const where = HEIGHTS.replace('mapping: heights', 'mapping: weights').replace('"h-{NO}"', '"h-{CODE|uuid}"');
  const sql = `ALTER TABLE WEIGHING ADD CODE CHAR(38); CREATE UNIQUE INDEX A ON WEIGHING (NO);
    CREATE INDEX B ON WEIGHING (PERSON_ID);`;
  const expected = `weighing.yaml:1:1: warning: no index finds a row of WEIGHING (1000 rows) by CODE; ${CURE}`;
  expect(await problemsWith({ rows: 1000, sql, where })).toContain(expected);
  const indexed = `${sql} CREATE UNIQUE INDEX C ON WEIGHING (CODE)`;
  expect(await problemsWith({ rows: 1000, sql: indexed, where })).not.toContain(expected);
});
