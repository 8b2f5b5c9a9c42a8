/**
 * Dates far in the future: spread over decades they are shifted, as in research data; if all are in one year they mean
 * that there is none.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { NAMELESS, smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const VISITS = `mapping: visits
resource: Observation
source: { table: VISIT, as: v, key: [NO] }
id: "v-{NO}"
elements:
  status: final
  code: { text: x }
  effectiveDateTime: { from: AT }
`;

const warned = async (years: readonly number[]): Promise<readonly string[]> => {
  const rows = years.map((year, i) => `(${i + 1}, '${year}-03-10 08:30:00.000')`).join();
  const made = smallClinic({ 'person.yaml': NAMELESS, 'weighing.yaml': '', 'visit.yaml': VISITS });
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec(`CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, AT DATETIME); INSERT INTO VISIT VALUES ${rows};`);
  database.close();
  const opened = await open(made);
  const found = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return found.filter(line => line.includes('is a date')).map(line => line.replace(/^.*?(after|before)/, '$1'));
};

const SHIFTED = Array.from({ length: 60 }, (_, i) => 2110 + i);

test('future years that are spread over decades give no warning', async () => {
  expect(await warned(SHIFTED)).toEqual([]);
});

test('years beyond those decades give a warning', async () => {
  expect(await warned([...SHIFTED, 2999, 9999])).toEqual([expect.stringMatching(/^after 2236 in 2 rows of AT/)]);
});

test('a single future year gives a warning, however many rows have it, and so do single slips', async () => {
  expect(await warned(SHIFTED.map(() => 2099))).toEqual([expect.stringMatching(/^after 2076 in 60 rows of AT/)]);
  const few = [...SHIFTED.map(() => 2024), 2099, 2150, 9999];
  expect(await warned(few)).toEqual([expect.stringMatching(/^after 2076 in 3 rows of AT/)]);
});
