/**
 * Values of an `sql` that no row shows are reported as those of a column are. Inverse dates of FileMan are a case:
 * SQLite computes 9999999 less the date in binary, with digits that no stamp has.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

/** A quarter past each hour from one to twelve, on sixty days of two months. */
const INVERSE = Array.from({ length: 60 }, (_, i) => {
  const stamp = 3_150_301 + (i % 2) * 200 + (i % 30) + ((i % 12) + 1) / 100 + 0.0015;
  return Number((9_999_999 - stamp).toFixed(6));
});
/** Those that become a stamp with further digits. */
const NOISY = INVERSE.filter(inverse => String(9_999_999 - inverse).length > 'YYYMMDD.HHMMSS'.length);
const EXACT = INVERSE.filter(inverse => !NOISY.includes(inverse));

async function problemsWith(taken: string, rows: readonly number[]): Promise<readonly string[]> {
  const labs = `mapping: labs
resource: Basic
source: { table: LAB, as: l, key: [NO] }
id: "l-{NO}"
compartment: { none: a test }
elements:
  code: { text: x }
  extension: [{ url: "http://example.org/taken", valueDateTime: ${taken} }]
`;
  const made = smallClinic({ 'person.yaml': '', 'weighing.yaml': '', 'codes.yaml': '{}\n', 'labs.yaml': labs });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec('CREATE TABLE LAB (NO INTEGER PRIMARY KEY, INV DECIMAL(14,6))');
  const insert = writer.prepare('INSERT INTO LAB (INV) VALUES (?)');
  for (const row of rows) insert.run(row);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

const FILEMAN = 'type: "decimal(14,6)", via: { ymd14: { since: 1700 } }';

test('an `sql` that is never emitted is a warning, and one that is absent in some rows', async () => {
  const [never, ...more] = await problemsWith(`{ sql: "9999999 - {INV}", ${FILEMAN} }`, NOISY);
  expect(more).toEqual([]);
  expect(never).toMatch(/valueDateTime is never emitted though `sql` has a value; expected values that ymd14/);
  const [some] = await problemsWith(`{ sql: "9999999 - {INV}", ${FILEMAN} }`, INVERSE);
  expect(some).toContain(`valueDateTime is absent in ${NOISY.length} rows though \`sql\` has a value`);
  expect(EXACT.length).toBeGreaterThan(0);
});

test('rounded, as the page says, all are there; NULL and zero are no value', async () => {
  const rounded = `{ sql: "ROUND(9999999 - {INV}, 6)", ${FILEMAN} }`;
  expect(await problemsWith(rounded, [...INVERSE, 9_999_999])).toEqual([]);
  expect(
    await problemsWith(`{ sql: "CASE WHEN {NO} = 1 THEN ROUND(9999999 - {INV}, 6) END", ${FILEMAN} }`, INVERSE),
  ).toEqual([]);
});
