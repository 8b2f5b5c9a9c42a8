/**
 * `check` warns, with a count, if rows that a column marks as deleted are served because no condition excludes them.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

interface Made {
  readonly columns: string;
  readonly row: (i: number) => string;
  /** Behind `key`. */
  readonly source?: string;
  readonly elements?: string;
}

async function problemsWith({ columns, row, source = '', elements = '' }: Made): Promise<readonly string[]> {
  const made = smallClinic({
    'person.yaml': `mapping: people
resource: Patient
source: { table: OLD, as: o, key: [ID]${source} }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
${elements}`,
    'weighing.yaml': '',
    'codes.yaml': '{}\n',
  });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`CREATE TABLE OLD (ID INTEGER PRIMARY KEY, SURNAME VARCHAR(20) COLLATE RTRIM, ${columns});
    CREATE TABLE OLD_NAME (NO INTEGER PRIMARY KEY, ID INTEGER, GIVEN VARCHAR(20) COLLATE RTRIM, VOIDED TINYINT)`);
  for (let i = 0; i < 30; i++) writer.exec(`INSERT INTO OLD VALUES (${i}, 'Nowak', ${row(i)})`);
  for (let i = 0; i < 30; i++) writer.exec(`INSERT INTO OLD_NAME VALUES (${i}, ${i}, 'Jan', ${i < 2 ? 1 : 0})`);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

const FLAG = { columns: 'DEL_FL CHAR(1) COLLATE RTRIM', row: (i: number) => (i < 2 ? "'Y'" : i < 9 ? "'N'" : 'NULL') };

test.each([
  ['DEL_FL', FLAG],
  ['isDeleted', { columns: 'isDeleted BIT', row: (i: number) => `${i < 2 ? 1 : 0}` }],
  ['VOIDED', { columns: 'VOIDED TINYINT', row: (i: number) => `${i < 2 ? 1 : 0}` }],
  [
    'deleted_at',
    { columns: 'deleted_at DATETIME', row: (i: number) => (i < 2 ? "'2024-03-10 08:30:00.000'" : 'NULL') },
  ],
])('%s is reported at the source, with the number of rows', async (name, made) => {
  expect(await problemsWith(made)).toEqual([
    `person.yaml:1:1: warning: ${name} of OLD reads as a mark of deleted rows, no part of people asks it, and 2 rows of 30` +
      ` that are served have a value in it; expected \`deleted\` or \`where\` with the value that means so`,
  ]);
});

test('child rows are reported at their list', async () => {
  const elements =
    '  telecom: [{ each: { table: OLD_NAME, as: n, on: { ID: ID }, order: [NO] }, elements: { value: { from: n.GIVEN } } }]\n';
  const [problem, ...others] = await problemsWith({ ...FLAG, source: ', deleted: { DEL_FL: Y }', elements });
  expect(problem).toMatch(/^person\.yaml:7:\d+: warning: VOIDED of OLD_NAME reads as .* 2 rows of 30 /);
  expect(others).toEqual([]);
  const people = `---
mapping: doctors
resource: Practitioner
source: { table: OLD_NAME, as: d, key: [NO], deleted: { VOIDED: "1" } }
id: "{NO}"
elements:
  name: [ { given: [ { from: GIVEN } ] } ]
`;
  const led = elements
    .replace('telecom', 'generalPractitioner')
    .replace(/elements: .*/, 'item: { ref: doctors, on: { NO: n.NO } } }]\n');
  expect(await problemsWith({ ...FLAG, source: ', deleted: { DEL_FL: Y }', elements: led + people })).toEqual([]);
});

test.each([
  ['a condition asks it', { ...FLAG, source: ', where: { DEL_FL: { not: Y } }' }],
  [
    'an element shows it',
    { ...FLAG, elements: '  active: { from: DEL_FL, via: { boolean: { true: N, false: Y } } }\n' },
  ],
  ['no row is marked', { ...FLAG, row: () => "'N'" }],
  ['every row has a value', { ...FLAG, row: () => "'A'" }],
  ['the name says who or why', { columns: 'DELETED_BY VARCHAR(9), DEL_RSN VARCHAR(9)', row: () => "'me', 'why'" }],
  ['the name says delivery', { columns: 'DELIVERED_FL CHAR(1)', row: () => "'Y'" }],
])('nothing is reported if %s', async (_, made) => {
  expect(await problemsWith(made)).toEqual([]);
});
