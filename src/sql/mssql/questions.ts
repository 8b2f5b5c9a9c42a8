/**
 * What is asked of a SQL Server once, at the start: how its sessions read without waiting for writers, and whether the
 * login can do more than read. In: a way to run SELECTs. Out: the answers.
 * https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide
 */
import type { Row, Statement } from '../plan.ts';
import type { Isolation } from './connection.ts';

type Run = (statement: Statement) => Promise<readonly Row[]>;

const VERSIONS = `SELECT CAST(d.is_read_committed_snapshot_on AS int) AS committed, CAST(d.snapshot_isolation_state AS int) AS state
FROM sys.databases AS d
WHERE d.database_id = DB_ID()`;

const PERMISSIONS = `SELECT CAST(p.permission_name AS nvarchar(128)) AS permission_name
FROM fn_my_permissions(NULL, 'DATABASE') AS p
WHERE p.permission_name IN ('INSERT', 'UPDATE', 'DELETE', 'ALTER', 'CONTROL', 'CREATE TABLE', 'EXECUTE')
ORDER BY p.permission_name`;

/** SNAPSHOT only where it is needed to read versions: READ COMMITTED does so itself where the database says so. */
export async function askIsolation(run: Run): Promise<Isolation> {
  const [row] = await run({ text: VERSIONS, parameters: [] });
  return row?.[0] !== 1 && row?.[1] === 1 ? 'SNAPSHOT' : 'READ COMMITTED';
}

/** Permissions on the whole database by which the login could change it. */
export async function writePermissions(run: Run): Promise<readonly string[]> {
  return (await run({ text: PERMISSIONS, parameters: [] })).map(([name]) => String(name));
}
