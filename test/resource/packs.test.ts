import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { tablesDdl } from '../../fixtures/ddl.ts';
import { rows } from '../../fixtures/rows.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { compareGroup } from './against-interpreter.ts';
import type { Samples } from './arbitrary-rows.ts';

const ROWS = 60;
const PACKS = join(import.meta.dirname, '../../mappings');

const folder = temporaryFolder(afterAll);
const file = join(folder, 'empty.sqlite');
const written = new DatabaseSync(file);
for (const statement of tablesDdl('sqlite')) written.exec(statement);
written.close();
const database = openSqlite(file);
const catalog = await database.catalog();
await database.close();

/** Up to this number of values per column, from the generator of the demo database. */
function sampleColumns(patients: number, each: number): Samples {
  const found = new Map<string, Set<string | number>>();
  for (const { table, row } of rows({ patients, seed: 1 })) {
    for (const [column, cell] of Object.entries(row)) {
      if (typeof cell !== 'string' && typeof cell !== 'number') continue;
      const values = found.get(`${table}.${column}`) ?? new Set();
      if (values.size < each) found.set(`${table}.${column}`, values.add(cell));
    }
  }
  return found;
}

const samples = sampleColumns(20, 30);

for (const name of readdirSync(PACKS).filter(pack => existsSync(join(PACKS, pack, 'pack.yaml')))) {
  const { registry, problems } = loadPack(join(PACKS, name), catalog);
  describe(`the pack ${name}`, () => {
    it('can be loaded', () => {
      expect(problems.filter(({ severity }) => severity === 'error').map(formatProblem)).toEqual([]);
    });

    if (!registry) return;
    for (const [group, mappings] of Map.groupBy(registry.mappings, mapping => mapping.group)) {
      it(`writes the same as the interpreter for random rows of ${group}`, () => {
        compareGroup(mappings, registry, ROWS, samples);
      });
    }
  });
}
