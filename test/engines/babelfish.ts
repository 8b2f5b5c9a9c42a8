/**
 * The T-SQL dialect of Babelfish for PostgreSQL: it has only an older collation that ignores case and accents, and its
 * DATETIME2 texts lack the trailing zeros of SQL Server's.
 */
import type { Dialect } from '../../src/sql/dialect.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';

const spelled = (sql: string): string => sql.replaceAll('Latin1_General_100_CI_AI', 'Latin1_General_CI_AI');

export const BABELFISH: Dialect = {
  ...MSSQL,
  contains: (...args) => spelled(MSSQL.contains(...args)),
  call: (...args) => spelled(MSSQL.call(...args)),
  fetch(writer, expression) {
    const { type } = expression;
    const text = MSSQL.fetch(writer, expression);
    const isCut = type.kind === 'instant' || (type.kind === 'datetime' && type.name === 'datetime2');
    if (!isCut || type.fraction === 0) return text;
    return `LEFT(${text} + CASE WHEN ${text} LIKE '%.%' THEN '' ELSE '.' END + '000000', ${20 + type.fraction})`;
  },
};
