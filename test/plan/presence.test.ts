import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { createFacade } from '../../src/facade.ts';
import { loadPack } from '../../src/mapping/load/pack.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';

const SCHEMA = `
CREATE TABLE DX (NO INTEGER NOT NULL PRIMARY KEY, CDS VARCHAR(60) COLLATE RTRIM, TX VARCHAR(20) COLLATE RTRIM, UPD DATETIME);
INSERT INTO DX (NO, CDS, TX) VALUES (1, 'A:1.5;B: 77 ', 'x'), (2, 'B:1.5', 'x'), (3, 'A:1:5', 'x'), (4, 'A', 'x'), (5, NULL, 'x');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'codes.yaml': 'system:\n  rows: { A: http://a.example, B: http://b.example }\n',
  'dx.yaml': `mapping: places
resource: Location
profile: us-core-location
source: { table: DX, as: d, key: [NO], changed: UPD }
id: "{NO}"
elements:
  status: active
  name: { from: TX }
  type:
    - coding:
        - each: { split: CDS, by: ";", parse: "{sys}:{code}", as: c }
          item: { system: { from: c.sys, via: system }, code: { from: c.code } }
`,
};

async function search(query: string): Promise<{ readonly ids: readonly string[]; readonly sql: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'pack'));
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(folder, 'pack', name), text);
  const written = new DatabaseSync(join(folder, 'dx.sqlite'));
  written.exec(SCHEMA);
  written.close();
  const database = openSqlite(join(folder, 'dx.sqlite'));
  onTestFinished(() => database.close());
  const { registry, problems } = loadPack(join(folder, 'pack'), await database.catalog());
  if (!registry) throw new Error(JSON.stringify(problems));
  const plans: SqlPlan[] = [];
  const facade = createFacade({
    ...{ registry, database, pageSize: 50, pageMax: 50, secret: new Uint8Array(32) },
    ...{ softwareVersion: '0', date: '2026-06-30', onQuery: plan => plans.push(plan) },
  });
  const { json } = await facade.search(
    { type: 'Location', parameters: [...new URLSearchParams(query)] },
    { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' },
  );
  const { entry = [] }: { readonly entry?: readonly { readonly resource: { readonly id: string } }[] } =
    JSON.parse(json);
  return { ids: entry.map(({ resource }) => resource.id), sql: plans.map(plan => render(plan, SQLITE).text) };
}

describe('parts of a piece, searched', () => {
  test('a part is matched together with the other parts of the same piece', async () => {
    expect((await search('type=http://a.example|1.5')).ids).toEqual(['1']);
    expect((await search('type=1.5')).ids).toEqual(['1', '2']);
  });

  test('parts are trimmed, and the last takes the rest', async () => {
    expect((await search('type=http://b.example|77')).ids).toEqual(['1']);
    expect((await search('type=http://a.example|1:5')).ids).toEqual(['3']);
  });

  test('a piece without the separator is no item', async () => {
    expect((await search('type=A')).ids).toEqual([]);
    expect((await search('type:not=1.5')).ids).toEqual(['3', '4', '5']);
  });
});

test('what a resource always has is found without asking for anything else in it', async () => {
  const { ids, sql } = await search('status=active');
  expect(ids).toEqual(['1', '2', '3', '4', '5']);
  expect(sql[0]).not.toMatch(/WHERE.*(CDS|TX)/s);
});

test('a profile is found where nothing else is said of the resource', async () => {
  const { ids } = await search('_profile=http://hl7.org/fhir/us/core/StructureDefinition/us-core-location');
  expect(ids).toEqual(['1', '2', '3', '4', '5']);
});
