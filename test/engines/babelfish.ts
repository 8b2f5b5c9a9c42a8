/**
 * T-SQL as Babelfish for PostgreSQL takes it: it has an older collation without case and accents alone.
 */
import type { Dialect } from '../../src/sql/dialect.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';

const spelled = (sql: string): string => sql.replaceAll('Latin1_General_100_CI_AI', 'Latin1_General_CI_AI');

export const BABELFISH: Dialect = {
  ...MSSQL,
  contains: (...args) => spelled(MSSQL.contains(...args)),
  call: (...args) => spelled(MSSQL.call(...args)),
};
