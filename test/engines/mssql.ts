/**
 * Makes databases on the SQL Server of MSSQL_URL, with a login that may create databases. In: nothing, or rows. Out:
 * separate databases, which are dropped afterwards. The server may be Babelfish for PostgreSQL, which some cases have
 * to know.
 */
import type sql from 'mssql';
import type { Row } from '../../fixtures/cells.ts';
import { createDatabase, loadMssql } from '../../fixtures/load-mssql.ts';
import type { Database } from '../../src/sql/database.ts';
import { parseSqlServerAddress, type SqlServerAddress } from '../../src/sql/mssql/address.ts';
import { createSingle } from '../../src/sql/mssql/connection.ts';
import { openMssql } from '../../src/sql/mssql/database.ts';
import { BABELFISH } from './babelfish.ts';
import { MSSQL_URL } from './url.ts';

export interface TestDatabase {
  readonly address: SqlServerAddress;
  /**
   * True for Babelfish, which lacks features of SQL Server: error numbers, locks, CHAR padding, some collations, bulk
   * load of decimals.
   */
  readonly isBabelfish: boolean;
  /** Opens it like the server. */
  open(): Promise<Database>;
  /** Runs statements with all permissions, by the login that created the database. */
  batch(...statements: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

let made = 0;

/** Creates an empty database. Throws if MSSQL_URL is unset, or its login may not create databases. */
export async function createTestDatabase(url = MSSQL_URL): Promise<TestDatabase> {
  const read = parseSqlServerAddress(url ?? '');
  if ('problems' in read) throw new Error(`MSSQL_URL: ${read.problems.join('; ')}`);
  const server = { ...read.address, connectTimeout: 15_000 };
  const address = { ...server, database: `lintel_test_${process.pid}_${++made}` };
  await createDatabase(address);
  const name = `[${address.database}]`;
  const found = await inDatabase(address, pool =>
    pool.request().query<readonly unknown[]>(`SELECT CAST(SERVERPROPERTY('Babelfish') AS int)`),
  );
  const isBabelfish = found.recordset[0]?.[0] === 1;
  const patient = { ...address.interactive, wait: 300_000, timeout: 300_000 };
  const batch = (at: SqlServerAddress, statements: readonly string[]): Promise<void> =>
    inDatabase(at, async pool => {
      for (const statement of statements) await pool.request().batch(statement);
    });
  return {
    address,
    isBabelfish,
    // A development server may be slow.
    open: () =>
      openMssql({ ...address, interactive: patient }, isBabelfish ? { dialect: BABELFISH, timeLimit: 10_000 } : {}),
    batch: (...statements) => batch(address, statements),
    async drop() {
      const master = { ...server, database: 'master' };
      if (!isBabelfish) await batch(master, [`ALTER DATABASE ${name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE`]);
      for (let tries = 1; ; tries++) {
        try {
          return await batch(master, [`DROP DATABASE ${name}`]);
        } catch (error) {
          // Babelfish notices a closed session with a delay.
          if (!isBabelfish || tries === 20) throw error;
          await new Promise(resolve => setTimeout(resolve, 500));
        }
      }
    },
  };
}

/** Fills a database with the fixture, or with other rows of its tables. */
export async function fillWithFixture(
  { address }: TestDatabase,
  patients: number,
  source?: Iterable<Row>,
): Promise<void> {
  await loadMssql(address, { patients, seed: 1 }, source);
}

async function inDatabase<T>(address: SqlServerAddress, use: (pool: sql.ConnectionPool) => Promise<T>): Promise<T> {
  const pool = createSingle(address);
  await pool.connect();
  try {
    return await use(pool);
  } finally {
    await pool.close();
  }
}
