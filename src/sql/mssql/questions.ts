/**
 * Asks a SQL Server at the start how its sessions read without waiting for writers. In: a function that runs SELECTs.
 * Out: the answer.
 * https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide
 */
import type { Isolation } from './connection.ts';
import type { Run } from './lists.ts';

/** A readable secondary is no READ_ONLY database to sys.databases. */
const VERSIONS = `SELECT CAST(d.is_read_committed_snapshot_on AS int) AS committed,
  CAST(d.snapshot_isolation_state AS int) AS state,
  CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(60)) = 'READ_ONLY' THEN 1 ELSE 0 END AS still
FROM sys.databases AS d
WHERE d.database_id = DB_ID()`;

export interface Reading {
  readonly isolation: Isolation;
  /** Rows are read as versions: a statement that is open keeps no writer waiting. */
  readonly versions: boolean;
}

/**
 * SNAPSHOT only where it is needed to read versions: READ COMMITTED does so itself where the database says so. A
 * readable secondary reads versions whatever is asked for, and a read-only database has no writers.
 */
export async function askReading(run: Run): Promise<Reading> {
  const [row] = await run({ text: VERSIONS, parameters: [] });
  if (row?.[0] === 1 || row?.[2] === 1) return { isolation: 'READ COMMITTED', versions: true };
  return row?.[1] === 1 ? { isolation: 'SNAPSHOT', versions: true } : { isolation: 'READ COMMITTED', versions: false };
}
