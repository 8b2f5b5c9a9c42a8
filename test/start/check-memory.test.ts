/** The columns whose rows are examined: those that a pack may name, also by names that macros assemble. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { partNamed } from '../../src/mapping/load/pack/part-named.ts';
import type { PackFiles } from '../../src/mapping/load/read/files.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { CheckMemory } from '../../src/start/check-memory.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const files = (text: string): PackFiles => ({
  pack: { path: 'pack.yaml', text: 'name: a\ntitle: A\nzone: UTC\n' },
  codes: [],
  tables: [],
  mappings: [{ path: 'a.yaml', text }],
  ccds: undefined,
  lock: undefined,
  version: '0',
  changed: 0,
});

const SCHEMA = `
  CREATE TABLE RESULTS_2019 (NO TEXT PRIMARY KEY, DIAG1 DATE, DIAG2 DATE, OTHER DATE);
  CREATE TABLE RESULTS_2020 (NO TEXT PRIMARY KEY, DIAG1 DATE, DIAG2 DATE, OTHER DATE);
  CREATE TABLE RESULTS_2021 (NO TEXT PRIMARY KEY, DIAG1 DATE, DIAG2 DATE, OTHER DATE);
  CREATE TABLE ORDERS (NO TEXT PRIMARY KEY, DIAG1 DATE);
  INSERT INTO RESULTS_2020 VALUES ('a', '2020-01-01', '2020-01-01', '2020-01-01');`;

async function lookedAt(text: string): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const file = join(folder, 'a.sqlite');
  const writing = new DatabaseSync(file);
  writing.exec(SCHEMA);
  writing.close();
  const database = openSqlite(file);
  const pack = files(text);
  const { tables } = await new CheckMemory().withForms(database, await database.catalog(), pack, partNamed(pack));
  await database.close();
  return [...tables].flatMap(([table, { columns }]) =>
    [...columns].flatMap(([column, { written }]) => (written ? [`${table}.${column}`] : [])),
  );
}

it('includes tables and columns whose names a macro assembles', async () => {
  const text = `with: [$year, $n]
rows: [["2019", "1"], ["2020", "1"]]
mapping: results-$year
resource: Observation
source: { table: RESULTS_$year, as: r, key: [NO] }
elements: { effectiveDateTime: { from: DIAG$n } }
`;
  expect(await lookedAt(text)).toEqual([
    'results_2019.no',
    'results_2019.diag1',
    'results_2020.no',
    'results_2020.diag1',
  ]);
});

it('includes tables whose whole name is a parameter', async () => {
  const text = `with: [$table, $day]
rows: [[ORDERS, DIAG1]]
mapping: $table
resource: Observation
source: { table: $table, as: r, key: [NO] }
elements: { effectiveDateTime: { from: $day } }
`;
  expect(await lookedAt(text)).toEqual(['orders.no', 'orders.diag1']);
});
