import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { timedTables, watermarkPlans } from '../../src/cache/freshness.ts';
import { eachTable } from '../../src/cache/watermarks.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { openDemo } from '../law/demo.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { smallClinic } from './small-clinic.ts';

const SEARCHES = [
  ['Patient', '_id=1'],
  ['Observation', 'category=laboratory&_include=*'],
  ['Observation', 'patient.family=a&_total=accurate'],
  ['Encounter', '_revinclude=Condition:encounter&_sort=-date'],
  ['Patient', '_has:Observation:patient:category=vital-signs'],
  ['MedicationRequest', 'status=active'],
  ['DocumentReference', 'patient=1'],
  ['Provenance', 'target=Patient/1'],
  ['Group', 'member=1'],
] as const;

test('a plan depends on the tables that its SQL names; watermark queries use an index', async () => {
  const plans: SqlPlan[] = [];
  const { facade, registry, database, close } = await openDemo({ patients: 3, onQuery: plan => plans.push(plan) });
  onTestFinished(close);
  const context = {
    access: accessToPatients('a', ['1', '2']),
    base: 'http://x',
    handling: 'lenient',
  } as const;
  for (const [type, query] of SEARCHES) {
    await facade.search({ type, parameters: [...new URLSearchParams(query)] }, context);
  }
  const catalog = await database.catalog();
  const seen = new Set<string>();
  expect(plans.length).toBeGreaterThan(20);
  for (const plan of plans) {
    const found = new Set<string>();
    eachTable(plan, table => found.add(table.split('.').at(-1) ?? ''));
    const words = new Set(
      render(plan, SQLITE)
        .text.toLowerCase()
        .match(/[a-z_0-9]+/g),
    );
    const named = [...words].filter(word => catalog.tables.has(word) && found.has(word));
    expect([...found].toSorted()).toEqual(named.toSorted());
    const text = render(plan, SQLITE).text;
    const read = [...text.matchAll(/\b(?:FROM|JOIN) \[?([A-Z_0-9]+)\]?/g)].map(match => match[1]?.toLowerCase() ?? '');
    for (const table of read) if (catalog.tables.has(table)) expect(found).toContain(table);
    for (const table of found) seen.add(table);
  }
  expect(seen.size).toBeGreaterThan(10);

  const marks = watermarkPlans(registry, catalog);
  expect(marks.size).toBeGreaterThan(10);
  for (const plan of marks.values()) {
    const [how] = await database.explain(plan);
    expect(how).toMatch(/USING (COVERING )?INDEX/);
    expect(await database.query(plan)).toHaveLength(1);
  }
  expect(timedTables(registry).size).toBeGreaterThan(0);
});

test('a table has a watermark if an index begins with its change column', async () => {
  const { registry, catalog, close } = await smallClinic();
  onTestFinished(close);
  const marks = [...watermarkPlans(registry, catalog)].map(([key, { from }]) => [key, from?.table.name.toLowerCase()]);
  // WARD has no index, PHONE no such column; BED's watermark is in the table that it looks up.
  expect(marks.map(([, table]) => table).toSorted()).toEqual(['allergy', 'bed_log', 'person', 'stay']);
  for (const [key, table] of marks) expect(key).toContain(table);
});

test('a watermark leaves out the values that mean "no value" in its own column, not those of other columns', async () => {
  const { registry, catalog, close } = await smallClinic();
  onTestFinished(close);
  const without = [...watermarkPlans(registry, catalog).values()].filter(({ from }) =>
    JSON.stringify(from?.where).includes('9999-12-31'),
  );
  expect(without.map(({ from }) => from?.table.name.toLowerCase())).toEqual(['allergy']);
});

test('words behind all dates are no watermark', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'a.sqlite');
  const written = new DatabaseSync(file);
  written.exec(`CREATE TABLE A (NO INTEGER PRIMARY KEY, UPD DATETIME); CREATE INDEX A_UPD ON A (UPD);
    CREATE TABLE B (NO INTEGER PRIMARY KEY, UPD DATETIME); CREATE INDEX B_UPD ON B (UPD);
    INSERT INTO A VALUES (1, '2024-03-10 08:30:00'), (2, 'N/A'), (3, '0000-00-00'), (4, x'30'), (5, NULL);
    INSERT INTO B VALUES (1, '2024-03-10T08:30:00Z'), (2, 'N/A'), (3, '0000-00-00'), (4, x'30'), (5, NULL);`);
  written.close();
  const database = openSqlite(file);
  onTestFinished(() => database.close());
  const bare = await database.catalog();
  const catalog = (await database.forms?.(bare, () => true)) ?? bare;
  mkdirSync(join(folder, 'pack'));
  writeFileSync(join(folder, 'pack', 'pack.yaml'), 'name: a\ntitle: A\nzone: UTC\n');
  writeFileSync(
    join(folder, 'pack', 'm.yaml'),
    ['A', 'B']
      .map(
        name =>
          `mapping: of-${name}\nresource: Basic\nsource: { table: ${name}, key: [NO], changed: UPD }\nid: "${name}{NO}"\nelements: { code: { text: x } }\n`,
      )
      .join('---\n'),
  );
  const { registry, problems } = loadPack(join(folder, 'pack'), catalog);
  if (!registry) throw new Error(JSON.stringify(problems));
  const marks = [...watermarkPlans(registry, catalog).values()];
  expect(await Promise.all(marks.map(plan => database.query(plan)))).toEqual([
    [['2024-03-10 08:30:00']],
    [['2024-03-10 08:30:00.0000000']],
  ]);
  for (const plan of marks)
    expect((await database.explain(plan)).join('\n')).toMatch(/^(SEARCH|SCAN) .* INDEX \w_UPD[^\n]*$/);
});
