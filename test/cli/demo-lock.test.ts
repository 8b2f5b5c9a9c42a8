import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFixture } from '../../fixtures/build.ts';
import { writeLock } from '../../src/mapping/load/pack/lock.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';

const PACK = new URL('../../mappings/medkeep/', import.meta.url).pathname;

test('the lock of the demo pack equals the output of `lintel lock`', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'fixture.sqlite');
  buildFixture({ patients: 1, seed: 1, file });
  const database = openSqlite(file);
  const catalog = await database.catalog();
  await database.close();
  const { registry } = loadPack(PACK, catalog);
  const written = registry && writeLock(registry, catalog);
  expect(written).toBe(readFileSync(join(PACK, 'schema.lock.json'), 'utf8'));
});

test('the demo pack is valid against its lock alone', async () => {
  const { code, out } = await lintel({ MAPPINGS: PACK }, 'check', '--locked');
  expect(out).toMatch(/; 0 errors, 0 warnings$/);
  expect(code).toBe(0);
});
