/** Period columns of temporal tables, which SQL Server writes in UTC whatever the pack's zone is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLocked } from '../../src/check/check.ts';
import { runPackTests } from '../../src/check/pack-tests.ts';
import { readConfig } from '../../src/config/config.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FILES = {
  'pack.yaml': 'name: clinic\ntitle: Clinic\nzone: America/New_York\nsystems: {}\n',
  'place.yaml': `mapping: places
resource: Location
source: { table: PLACE, as: l, key: [NO], changed: SYS_FROM }
id: "{NO}"
elements:
  name: { from: TITLE }
`,
  'place.test.yaml': `mapping: places
rows:
  PLACE: { NO: 1, TITLE: Ward, SYS_FROM: "2024-03-14 12:30:00.1234567" }
resource: { meta: { lastUpdated: "2024-03-14T08:30:00.123-04:00" } }
matches: ["_lastUpdated=ge2024-03-14T12:30:00Z&_lastUpdated=lt2024-03-14T12:30:01Z"]
`,
  'schema.lock.json': JSON.stringify({
    engine: 'mssql',
    tables: {
      PLACE: {
        columns: { NO: 'INT', TITLE: 'VARCHAR(40) NULL', SYS_FROM: 'DATETIME2(7) UTC' },
        primaryKey: ['NO'],
        indexes: {},
      },
    },
  }),
};

it('period columns can be `changed`, and rows of a pack test hold them in UTC as the table does', async () => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const { pack, catalog } = checkLocked(readConfig({ MAPPINGS: folder, DATA_DIR: join(folder, 'data') }));
  expect(pack.problems.map(formatProblem)).toEqual([]);
  if (!pack.registry || !catalog) throw new Error('nothing to test');
  const { ran, problems } = await runPackTests(folder, pack.registry, catalog);
  expect(problems.map(formatProblem)).toEqual([]);
  expect(ran).toBe(1);
});
