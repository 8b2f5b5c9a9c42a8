/** A suite on each engine. On SQL Server only where MSSQL_URL names one: else its cases are reported as skipped. */
import { describe } from 'vitest';
import { MSSQL_URL } from './mssql.ts';

export type EngineName = 'sqlite' | 'mssql';

export function onEachEngine(suite: (engine: EngineName) => void): void {
  describe('on SQLite', () => suite('sqlite'));
  describe.skipIf(MSSQL_URL === undefined)('on the SQL Server of MSSQL_URL', () => suite('mssql'));
}
