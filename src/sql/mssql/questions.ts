/**
 * Finds out at the start how sessions of a SQL Server read without waiting for writers. In: a function that runs
 * SELECTs. Out: the isolation level, and whether it reads row versions.
 * https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide
 */
import type { Isolation } from './connection.ts';
import type { Run } from './lists.ts';

/** Uses Updateability, because sys.databases does not mark a readable secondary as read-only. */
const VERSIONS = `SELECT CAST(d.is_read_committed_snapshot_on AS int) AS committed,
  CAST(d.snapshot_isolation_state AS int) AS state,
  CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(60)) = 'READ_ONLY' THEN 1 ELSE 0 END AS still
FROM sys.databases AS d
WHERE d.database_id = DB_ID()`;

export interface Reading {
  readonly isolation: Isolation;
  /** True if rows are read as versions, so that an open statement blocks no writer. */
  readonly versions: boolean;
}

/**
 * Returns the isolation level. SNAPSHOT only if it is needed to read versions: with READ_COMMITTED_SNAPSHOT, READ
 * COMMITTED does so itself. A readable secondary reads versions at any level, and a read-only database has no writers.
 */
export async function askReading(run: Run): Promise<Reading> {
  const [row] = await run({ text: VERSIONS, parameters: [] });
  if (row?.[0] === 1 || row?.[2] === 1) return { isolation: 'READ COMMITTED', versions: true };
  return row?.[1] === 1 ? { isolation: 'SNAPSHOT', versions: true } : { isolation: 'READ COMMITTED', versions: false };
}
