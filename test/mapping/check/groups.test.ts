import { describe, expect, test } from 'vitest';
import { isNull, not } from '../../../src/sql/construct.ts';
import type { ColumnExpression } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';
import type { SqlPlan } from '../../../src/sql/plan.ts';
import { render } from '../../../src/sql/render.ts';
import { SQLITE } from '../../../src/sql/sqlite/dialect.ts';
import { tsqlProblems } from '../../sql/grammar/tsql-grammar.ts';

function column(name: string, declared: string): ColumnExpression {
  const type = parseMssqlType(declared);
  if (!type) throw new TypeError(declared);
  return { kind: 'column', alias: identifier('p'), column: identifier(name), type };
}

const mrn = column('MRN', 'VARCHAR(12)');
const all: SqlPlan = {
  from: {
    table: { schema: identifier('dbo'), name: identifier('PT') },
    alias: identifier('p'),
    joins: [],
    where: not(isNull(mrn)),
  },
  columns: [mrn, column('PT_NO', 'INT')],
  orderBy: [],
  limit: 1000,
  shape: 'groups',
};
const doubled: SqlPlan = { ...all, least: 2 };

describe('combinations of columns with the number of their rows', () => {
  test('are grouped by exact text, in valid T-SQL', () => {
    const { text, parameters } = render(doubled, MSSQL);
    expect(text).toBe(`SELECT TOP (@p0) CAST(g.k0 AS nvarchar(12)), g.k1, COUNT(*)
FROM (SELECT p.MRN COLLATE Latin1_General_BIN2 AS k0, p.PT_NO AS k1
FROM dbo.PT AS p
WHERE p.MRN IS NOT NULL) AS g
GROUP BY g.k0, g.k1
HAVING COUNT(*) >= @p1
ORDER BY COUNT(*) DESC, g.k0, g.k1
OPTION (OPTIMIZE FOR (@p0 UNKNOWN))`);
    expect(parameters.map(p => p.value)).toEqual([1000, 2]);
    expect(tsqlProblems(text)).toEqual([]);
  });

  test('end with their limit in SQLite', () => {
    const { text, parameters } = render(all, SQLITE);
    expect(text).toMatch(/GROUP BY g\.k0, g\.k1\nORDER BY COUNT\(\*\) DESC, g\.k0, g\.k1\nLIMIT \+\?$/);
    expect(parameters.map(p => p.value)).toEqual([1000]);
  });
});
