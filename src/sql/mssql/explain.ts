/**
 * Explains a statement. In: a rendered statement. Out: the lines of SQL Server's estimated plan. Nothing is executed
 * and no value is sent: parameters are declared and stay NULL.
 * https://learn.microsoft.com/sql/t-sql/statements/set-showplan-text-transact-sql
 */
import type sql from 'mssql';
import type { Statement } from '../plan.ts';
import { readFailure } from './failure.ts';
import { printMssqlType } from './types.ts';

/** Needs the permission SHOWPLAN. Throws DatabaseError. */
export async function explainStatement(
  open: () => sql.ConnectionPool,
  statement: Statement,
): Promise<readonly string[]> {
  const pool = open();
  try {
    await pool.connect();
    // One connection, so the setting is still there for the second batch.
    await pool.request().batch('SET SHOWPLAN_TEXT ON');
    const result = await pool.request().batch<readonly unknown[]>(declared(statement));
    const recordsets: unknown = result.recordsets;
    const plans = Array.isArray(recordsets) ? recordsets.slice(1).flat() : [];
    return plans.map(row => String(row[0]).trimEnd());
  } catch (error) {
    throw readFailure(error).error;
  } finally {
    await pool.close();
  }
}

function declared({ text, parameters }: Statement): string {
  const list = parameters.map(({ name, type }) => `@${name} ${printMssqlType(type)}`);
  return list.length === 0 ? text : `DECLARE ${list.join(', ')};\n${text}`;
}
