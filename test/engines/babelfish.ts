/**
 * T-SQL as Babelfish for PostgreSQL takes it: it has an older collation without case and accents alone, and its texts
 * of a DATETIME2 lack the zeros at their end, which those of SQL Server have.
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
