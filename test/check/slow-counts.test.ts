/**
 * The counts before the sections end in time, name what was not counted, and report what is known meanwhile. In: a
 * table of texts whose BINARY key serves no comparison, because one of them ends in a blank.
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { checkLive } from '../../src/mapping/check/live.ts';
import { createTimeBudget } from '../../src/mapping/check/time-budget.ts';
import { loadPackFiles } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { rowReaders } from '../../src/plan/row-readers.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

const STAYS = `mapping: stays
resource: Encounter
source: { table: STAY, as: s, key: [ID] }
id: "{ID}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  subject: { ref: people, on: { ID: PERSON_ID } }
---
mapping: findings
resource: Condition
source: { table: FINDING, as: f, key: [NO] }
id: "{NO}"
elements:
  code: { text: x }
  subject: { ref: people, on: { ID: PERSON_ID } }
  encounter: { ref: stays, on: { ID: STAY_ID } }
  clinicalStatus: { from: ST, via: status }
needs: [subject]
`;

/** Makes this number of rows each. No reference has a target, so each is compared with all rows. */
function slowClinic(rows: number) {
  const clinic = smallClinic({
    'stay.yaml': STAYS,
    'codes.yaml': `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
status:
  system: http://terminology.hl7.org/CodeSystem/condition-clinical
  rows: { A: active }
`,
  });
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec(`CREATE TABLE STAY (ID VARCHAR(14) NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL);
    CREATE TABLE FINDING (NO INTEGER PRIMARY KEY, PERSON_ID INTEGER NOT NULL, STAY_ID VARCHAR(14), ST CHAR(1));
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO STAY SELECT 'U2024-' || i || iif(i = 7, ' ', ''), 1 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO FINDING SELECT i, 1, 'V2024-' || i, 'Z' FROM n;`);
  database.close();
  return clinic;
}

test('a query that takes too long is reported, and later queries run', async () => {
  const clinic = slowClinic(20_000);
  const database = openSqlite(join(clinic.folder, 'clinic.sqlite'));
  try {
    const { registry, problems: wrong } = loadPackFiles(readPackFiles(clinic.pack), await database.catalog());
    if (!registry) throw new Error(wrong.map(formatProblem).join('\n'));
    // A statement gets a fifth: far less than the slow one takes, and far more than the others take on a busy machine.
    const timeBudget = createTimeBudget(30_000);
    const stages: string[] = [];
    const problems = await checkLive({
      ...{ registry, database, readers: rowReaders(registry, 0), timeBudget },
      onStage: stage => stages.push(stage),
    });
    expect(timeBudget.late.map(({ file, line }) => `${file}:${line}`)).toEqual(['stay.yaml:17']);
    expect(problems.map(({ message }) => message).join()).toContain('code map status has no row for 1 value of ST');
    expect(stages).toContain('references (stay.yaml:17)');
  } finally {
    await database.close();
  }
});

test('check reports what it counts and what it left uncounted', { timeout: 120_000 }, async () => {
  const clinic = slowClinic(30_000);
  const { notes } = await lintel(clinic.environment, 'check', '--budget', '1');
  expect(notes).toMatch(/^Counting: [a-zA-Z ]+ \([a-z]+\.yaml:\d+\)$/m);
  expect(notes).toMatch(/^Keys, references and codes: Not counted in the time: stay\.yaml:17\. .*lintel indexes/m);
});

test('ids that two mappings share are counted without an index', async () => {
  const stays = (name: string, kind: string): string => `mapping: ${name}
resource: Organization
source: { table: STAY, as: s, key: [NO], where: { KIND: ${kind} } }
id: "{UID|uuid}"
elements: { name: ${name} }
`;
  const clinic = smallClinic({ 'stay.yaml': `${stays('wards', 'W')}---\n${stays('rooms', 'R')}` });
  const writer = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  // As a copy of MySQL has them: the index is in another collation than comparisons.
  writer.exec(`CREATE TABLE STAY (NO INTEGER PRIMARY KEY, KIND CHAR(1), UID CHAR(38) COLLATE NOCASE UNIQUE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    INSERT INTO STAY SELECT i, iif(i % 2, 'W', 'R'), printf('%08d-0000-4000-8000-000000000000', i) || iif(i = 7, ' ', '')
    FROM n;
    UPDATE STAY SET UID = '00000007-0000-4000-8000-000000000000' WHERE NO = 8`);
  writer.close();
  const database = openSqlite(join(clinic.folder, 'clinic.sqlite'));
  try {
    const { registry, problems: wrong } = loadPackFiles(readPackFiles(clinic.pack), await database.catalog());
    if (!registry) throw new Error(wrong.map(formatProblem).join('\n'));
    const timeBudget = createTimeBudget(30_000);
    const problems = await checkLive({ ...{ registry, database, readers: rowReaders(registry, 0), timeBudget } });
    expect(timeBudget.late).toEqual([]);
    expect(problems.map(formatProblem)).toEqual([
      'stay.yaml:7:1: ids of mappings wards and rooms are equal for 1 row; expected a literal in one of the ids, or a `where` that assigns the rows to one mapping',
    ]);
  } finally {
    await database.close();
  }
});
