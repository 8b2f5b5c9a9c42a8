/** The check finds rows to join by an index, however many keys one statement has. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SEARCHES } from '../../src/check/searches.ts';
import { VALUES } from '../../src/check/values.ts';
import type { Database } from '../../src/sql/database.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { registerFunctions } from '../../src/sql/sqlite/functions.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const REPORTS = `mapping: reports
resource: DiagnosticReport
source: { table: REP, as: p, key: [NO], lookup: { r: { table: RES, on: { ACC: ACC, TST: TST, SEQ: SEQ } } } }
id: "{NO}"
elements:
  status: final
  code: { text: report }
  conclusion: { from: r.VAL }
`;

test('composite text keys are searched by index', async () => {
  const made = smallClinic({ 'reports.yaml': REPORTS });
  const file = join(made.folder, 'clinic.sqlite');
  const writer = new DatabaseSync(file);
  writer.exec(`
CREATE TABLE RES (ACC VARCHAR(8) COLLATE RTRIM NOT NULL, TST CHAR(8) COLLATE RTRIM NOT NULL, SEQ SMALLINT NOT NULL, VAL VARCHAR(8));
CREATE INDEX RES_1 ON RES (ACC, TST, SEQ);
CREATE TABLE REP (NO INTEGER NOT NULL PRIMARY KEY, ACC VARCHAR(8) COLLATE RTRIM, TST CHAR(8) COLLATE RTRIM, SEQ SMALLINT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO RES SELECT 'A' || (i / 4), 'T' || (i % 4), 1, 'v' || i FROM n;
INSERT INTO REP SELECT rowid, ACC, TST, SEQ FROM RES;
`);
  const opened = await open(made);
  const plans: SqlPlan[] = [];
  const database: Database = {
    ...opened.database,
    query(plan, options) {
      if (plan.stored) plans.push(plan);
      return opened.database.query(plan, options);
    },
  };
  const reports = await check({ ...opened, database }, { sections: [VALUES] });
  await opened.close();
  expect(told(reports)).toEqual([]);
  registerFunctions(writer);
  const steps = plans
    .filter(({ from }) => 'table' in from && from.table.name === 'RES')
    .flatMap(plan => writer.prepare(`EXPLAIN QUERY PLAN ${render(plan, SQLITE).text}`).all())
    .map(row => String(row['detail']));
  writer.close();
  expect(steps).not.toEqual([]);
  expect(steps.filter(step => step.startsWith('SCAN'))).toEqual([]);
});

test('with --all more resources of a type are searched among than one search may name', async () => {
  const made = smallClinic();
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 620)
    INSERT INTO PERSON SELECT i, 'Quxname' || i % 7, date('1950-01-01', i || ' days'), 'F' FROM n;`);
  writer.close();
  const opened = await open(made);
  let statements = 0;
  const database: Database = {
    ...opened.database,
    query: (plan, how) => {
      statements++;
      return opened.database.query(plan, how);
    },
  };
  const reports = await check({ ...opened, database }, { sections: [SEARCHES], all: true });
  await opened.close();
  expect(told(reports)).toEqual([]);
  const [, asked = ''] = /^(\d+) of \1 searches/.exec(reports.flatMap(({ notes }) => notes).join()) ?? [];
  // One search for each part of the type would take several statements per search.
  expect(statements / Number(asked)).toBeLessThan(1.5);
});
