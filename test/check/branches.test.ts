/**
 * The sample has a row of each branch of a mapping, however rare it is.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { takeSample } from '../../src/check/sample.ts';
import { createFacade } from '../../src/facade.ts';
import { loadPack } from '../../src/mapping/load/pack.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { smallClinic } from '../cli/small-clinic.ts';

const WEIGHTS = `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  note: [{ text: { const: heavy, if: { KG: { ge: "400" } } } }]
  first:
    - valueQuantity: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
    - dataAbsentReason: { coding: [{ system: http://terminology.hl7.org/CodeSystem/data-absent-reason, code: unknown }] }
`;

test.each([1, 2, 3])('an alternative of one row in 20,000 is among the sampled ones, seed %i', async seed => {
  const { folder, pack } = smallClinic({ 'weighing.yaml': WEIGHTS });
  const file = join(folder, 'clinic.sqlite');
  const writer = new DatabaseSync(file);
  writer.exec(`WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20100)
    INSERT INTO WEIGHING SELECT i, 1, '2024-04-10 08:30:00.000', 60 + i % 40 FROM n`);
  writer.exec('UPDATE WEIGHING SET KG = NULL WHERE NO = 7777; UPDATE WEIGHING SET KG = 410 WHERE NO = 13333');
  writer.close();
  const database = openSqlite(file);
  onTestFinished(() => database.close());
  const { registry, problems } = loadPack(pack, await database.catalog());
  if (!registry) throw new Error(JSON.stringify(problems));
  const facade = createFacade({
    ...{ registry, database, pageSize: 50, pageMax: 1000, secret: new Uint8Array(32) },
    ...{ softwareVersion: '0', date: '2026-06-30' },
  });
  const seen: (string | undefined)[] = [];
  const { signal } = new AbortController();
  const asking = { registry, database, facade, now: Date.UTC(2026, 5, 30), seed, all: false, signal };
  await takeSample(asking, ({ id }) => void seen.push(id));
  expect(seen).toContain('w-7777');
  expect(seen).toContain('w-13333');
  expect(new Set(seen).size).toBe(seen.length);
});
