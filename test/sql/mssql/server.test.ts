/**
 * Against a real SQL Server, named by MSSQL_URL with a login that may create databases: what each case of cases.json
 * selects, and every resource of the demo, are those that SQLite gives. The test creates a database and drops it.
 * On Babelfish, cases of CHAR padding and of collations need not hold: they need the real one.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, loadMssql } from '../../../fixtures/load-mssql.ts';
import { createFacade } from '../../../src/facade.ts';
import { loadPack } from '../../../src/mapping/load/pack.ts';
import type { Database } from '../../../src/sql/database.ts';
import { parseSqlServerAddress, type SqlServerAddress } from '../../../src/sql/mssql/address.ts';
import { bindParameter } from '../../../src/sql/mssql/bind.ts';
import { createPool } from '../../../src/sql/mssql/connection.ts';
import { openMssql } from '../../../src/sql/mssql/database.ts';
import { DEMO_PACK, type Demo, openDemo } from '../../law/demo.ts';
import { allOf, NOW } from '../../law/law.ts';
import { CASES } from '../cases.ts';
import { type Expected, expectedOf } from '../expected.ts';
import { COLUMNS, column, ROWS } from '../sample.ts';

const url = process.env['MSSQL_URL'];
if (url === undefined)
  console.warn('Skipped: no SQL Server is named by MSSQL_URL, so nothing was asked of a real one.');

const PATIENTS = 28;
const expected: readonly Expected[] = JSON.parse(readFileSync(new URL('../cases.json', import.meta.url), 'utf8'));

function addressOf(text: string): SqlServerAddress {
  const read = parseSqlServerAddress(text);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return { ...read.address, database: `lintel_test_${process.pid}` };
}

async function batches(address: SqlServerAddress, statements: readonly string[]): Promise<void> {
  const pool = createPool(address, 1, 'READ COMMITTED');
  await pool.connect();
  try {
    for (const statement of statements) await pool.request().batch(statement);
  } finally {
    await pool.close();
  }
}

/** The two tables of sample.ts. */
async function loadSample(address: SqlServerAddress): Promise<void> {
  const pool = createPool(address, 1, 'READ COMMITTED');
  await pool.connect();
  try {
    for (const [table, columns] of Object.entries(COLUMNS)) {
      const names = Object.keys(columns);
      const lines = Object.entries(columns).map(
        ([name, type]) => `${name} ${type} ${name === names[0] ? 'NOT NULL' : 'NULL'}`,
      );
      await pool.request().batch(`CREATE TABLE dbo.${table} (${lines.join(', ')}, PRIMARY KEY (${names[0]}))`);
      for (const cells of ROWS[table] ?? []) {
        const request = pool.request();
        for (const name of names) {
          const { type } = column(table.toLowerCase(), name);
          const bound = bindParameter({ name, value: cells[name] ?? null, type });
          request.input(name, bound.type, bound.value);
        }
        await request.query(`INSERT INTO dbo.${table} VALUES (${names.map(name => `@${name}`).join(', ')})`);
      }
    }
  } finally {
    await pool.close();
  }
}

describe.skipIf(url === undefined)('a real SQL Server', () => {
  const address = addressOf(url ?? 'mssql://nobody@localhost/none');
  let database: Database;
  let demo: Demo;

  beforeAll(async () => {
    await createDatabase(address);
    await loadSample(address);
    await loadMssql(address, { patients: PATIENTS, seed: 1 });
    database = await openMssql(address);
    demo = await openDemo({ patients: PATIENTS });
  }, 600_000);

  afterAll(async () => {
    await demo?.close();
    await database?.close();
    const name = `[${address.database}]`;
    await batches({ ...address, database: 'master' }, [
      `ALTER DATABASE ${name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE`,
      `DROP DATABASE ${name}`,
    ]);
  });

  it.each(CASES.map((of, i) => [of.title, of, expected[i]] as const))('%s', async (_title, of, wanted) => {
    expect((await expectedOf(of, database)).rows).toEqual(wanted?.rows);
  });

  it('has the catalog that SQLite has', async () => {
    const [there, here] = [await database.catalog(), await demo.database.catalog()];
    for (const [name, table] of here.tables) {
      const types = (of: typeof table) => [...of.columns.values()].map(c => `${c.name} ${JSON.stringify(c.type)}`);
      const other = there.tables.get(name);
      expect(other && types(other)).toEqual(types(table));
    }
  });

  it('serves every resource of the demo as SQLite does', async () => {
    const { registry } = loadPack(DEMO_PACK, await database.catalog());
    if (registry === undefined) throw new Error('the demo pack does not load');
    const options = {
      pageSize: 50,
      pageMax: 1000,
      secret: new Uint8Array(32),
      softwareVersion: '0',
      date: '2026-06-30',
    };
    const facade = createFacade({ registry, database, ...options, clock: () => NOW });
    for (const type of demo.facade.offers.types) {
      expect(await allOf(facade, type, [])).toEqual(await allOf(demo.facade, type, []));
    }
  }, 600_000);

  it('explains a statement without running it', async () => {
    const [first] = CASES;
    expect(first && (await database.explain(first.plan)).length).toBeGreaterThan(0);
  });
});
