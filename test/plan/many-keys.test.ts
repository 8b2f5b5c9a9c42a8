/**
 * A chain through several references, each to hundreds of rows with keys of several columns: a list would exceed SQL
 * Server's maximum of parameters, so the condition is tested row by row.
 */
import { expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const ROWS = 450;
const rows = (row: (i: number) => string): string => Array.from({ length: ROWS }, (_, i) => `(${row(i)})`).join();

const SCHEMA = `
CREATE TABLE MEAS (VISIT INTEGER NOT NULL, TEST INTEGER NOT NULL, SEQ INTEGER NOT NULL, DAY DATE, PRIMARY KEY (VISIT, TEST, SEQ));
CREATE TABLE REPORT (NO INTEGER NOT NULL PRIMARY KEY, VISIT INTEGER, A INTEGER, B INTEGER, C INTEGER);
INSERT INTO MEAS VALUES ${rows(i => `${i % 90}, ${i % 7}, ${i}, '2024-03-${i < 440 ? '10' : '11'}'`)};
INSERT INTO REPORT VALUES (1, 3, 3, 3, 3), (2, 86, 5, 446, 0), (3, 3, 3, 4, 4), (4, NULL, 3, 3, 3);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { loinc: http://loinc.org }\n',
  'm.yaml': `mapping: measures
resource: Observation
source: { table: MEAS, as: m, key: [VISIT, TEST, SEQ] }
compartment: { none: of nobody }
id: "{VISIT}-{TEST}-{SEQ}"
elements: { status: final, code: loinc#8310-5, effectiveDateTime: { from: DAY } }
---
mapping: reports
resource: DiagnosticReport
source: { table: REPORT, as: r, key: [NO] }
compartment: { none: of nobody }
id: "{NO}"
elements:
  status: final
  code: loinc#58410-2
  result:
    - { ref: measures, on: { VISIT: VISIT, TEST: A, SEQ: B } }
    - { ref: measures, on: { VISIT: VISIT, TEST: A, SEQ: C } }
    - { ref: measures, on: { VISIT: VISIT, TEST: B, SEQ: A } }
`,
};

test.each([
  ['result.date=2024-03-10', ['1']],
  ['result.date=2024-03-11', ['2']],
  ['result.date=gt2024-03-09', ['1', '2']],
  ['result.date=2024-03-10&_id=1,2', ['1']],
])('DiagnosticReport?%s', async (query, ids) => {
  const search = await openSmall(SCHEMA, PACK);
  // `search` does not render a statement with too many parameters for SQL Server.
  const found = await search(`DiagnosticReport?${query}`);
  expect(found.ids).toEqual(ids);
  expect(found.mssql.length).toBeGreaterThan(0);
});
