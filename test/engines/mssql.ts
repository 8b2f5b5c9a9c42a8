/**
 * The SQL Server that MSSQL_URL names, with a login that may create databases. In: nothing, or rows. Out: databases of
 * our own on it, which are dropped again. It may be Babelfish for PostgreSQL, which some cases have to know.
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
  /** It lacks what SQL Server has: error numbers, locks, CHAR padding, some collations, a bulk load of decimals. */
  readonly isBabelfish: boolean;
  /** As the server opens it. */
  open(): Promise<Database>;
  /** The login that made it may do anything here. */
  batch(...statements: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

let made = 0;

/** An empty database. Throws where no server is named or its login may not create one. */
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
    // A server to develop against may take its time.
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
          // Babelfish notices late that a session has gone.
          if (!isBabelfish || tries === 20) throw error;
          await new Promise(resolve => setTimeout(resolve, 500));
        }
      }
    },
  };
}

/** Fills a database with the fixture, or with rows of its tables from elsewhere. */
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
