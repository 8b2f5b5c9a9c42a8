/** Runs the pack over the vendor's next release, in which one column has another name: the patients are the same. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildFixture } from '../../fixtures/build.ts';
import { allOf } from '../../src/law/searches.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { facadeOver } from '../facade-over.ts';
import { NOW } from '../law/law.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folder = temporaryFolder(afterAll);

async function patientsOf(version: '4.1' | '4.2'): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const file = join(folder, `${version}.sqlite`);
  buildFixture({ patients: 12, seed: 1, file, version });
  const pack = join(folder, version);
  cpSync(DEMO_PACK, pack, { recursive: true });
  const settings = readFileSync(join(pack, 'pack.yaml'), 'utf8');
  writeFileSync(join(pack, 'pack.yaml'), settings.replace(/^schema: .*$/m, `schema: "${version}"`));
  const database = openSqlite(file);
  const { registry, problems } = loadPack(pack, await database.catalog());
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (!registry) throw new Error(`the pack does not load over ${version}`);
  const facade = facadeOver({ registry, database, clock: () => NOW });
  const found = await allOf(facade, 'Patient', []);
  expect((await allOf(facade, 'Patient', [['phone', '(207) 555-0112']])).map(({ id }) => id)).toEqual(['1']);
  await database.close();
  return found;
}

test('the same mappings read a column under the new name of a release', async () => {
  const before = await patientsOf('4.1');
  expect(before.length).toBeGreaterThan(8);
  expect(await patientsOf('4.2')).toEqual(before);
});
