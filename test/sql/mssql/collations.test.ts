/** Columns of two collations: SQL Server compares them only where a statement names one of the two (error 468). */
import { expect, test } from 'vitest';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { among, equals, exists } from '../../../src/sql/construct.ts';
import type { ColumnExpression } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { renderPredicate } from '../../../src/sql/render.ts';
import { SQLITE } from '../../../src/sql/sqlite/dialect.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

const text = (unicode: boolean, collation?: string): ColumnType => ({
  ...{ kind: 'text', unicode, fixed: false, length: 20 },
  ...(collation === undefined ? {} : { collation }),
});
const column = (alias: string, type: ColumnType): ColumnExpression => ({
  kind: 'column',
  alias: identifier(alias),
  column: identifier('CD'),
  type,
});
const [LATIN, POLISH] = ['SQL_Latin1_General_CP1_CI_AS', 'Polish_CI_AS'];
const theirs = column('t', text(false, LATIN));

test.each([
  ['of another collation by that of the column that is sought', text(false, POLISH), `o.CD COLLATE ${LATIN}`],
  ['in Unicode likewise', text(true, POLISH), `CAST(o.CD AS varchar(8000)) COLLATE ${LATIN}`],
  ['of the same collation directly', text(false, LATIN), 'o.CD'],
  ['of an unknown collation directly', text(false), 'o.CD'],
])('a column is compared with one %s', (_title, type, expected) => {
  const { text: sql } = renderPredicate(equals(theirs, column('o', type)), MSSQL);
  expect(sql).toBe(`(t.CD = ${expected} AND t.CD COLLATE Latin1_General_BIN2 = o.CD)`);
  const from = { table: { name: identifier('T') }, alias: identifier('t'), joins: [] };
  const whole = renderPredicate(exists({ ...from, where: equals(theirs, column('o', type)) }), MSSQL);
  expect(tsqlProblems(`SELECT 1 AS n FROM O AS o WHERE ${whole.text}`)).toEqual([]);
  expect(renderPredicate(equals(theirs, column('o', type)), SQLITE).text).not.toContain('Latin');
});

test('columns of another collation are compared in the named one', () => {
  const others = ['o', 'p'].map(alias => column(alias, text(false, POLISH)));
  expect(renderPredicate(among(theirs, others), MSSQL).text).toBe('t.CD COLLATE Latin1_General_BIN2 IN (o.CD, p.CD)');
});
