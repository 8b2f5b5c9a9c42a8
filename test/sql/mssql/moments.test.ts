/**
 * Times of two types in one comparison: a DATETIME counts 1/300 s, which its text rounds, and SQL Server converts a
 * DATE next to it to DATETIME, which fails before 1753. So the facade converts its value to the searched column's type
 * if that can hold it, and in an order both are DATETIME2.
 */
import { expect, test } from 'vitest';
import { compare, equals } from '../../../src/sql/construct.ts';
import type { ColumnExpression } from '../../../src/sql/expression.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';
import { renderPredicate } from '../../../src/sql/render.ts';
import { column } from './open.ts';

const of = (name: string, declared: string): ColumnExpression => {
  const type = parseMssqlType(declared);
  if (!type) throw new TypeError(declared);
  return column(name, type);
};
const sought = (theirs: string, ours: string): string =>
  renderPredicate(equals(of('T', theirs), of('O', ours)), MSSQL).text.replaceAll('a.', '');
const later = (theirs: string, ours: string): string =>
  renderPredicate(compare(of('T', theirs), '>', of('O', ours)), MSSQL).text.replaceAll('a.', '');

const held = (moment: string, name: string): string =>
  `CASE WHEN CAST(TRY_CAST(${moment} AS ${name}) AS datetime2(3)) = ${moment} THEN TRY_CAST(${moment} AS ${name}) END`;

test.each([
  ['DATETIME', 'DATETIME', 'O'],
  ['DATETIME', 'DATETIME2(7)', held('CAST(O AS datetime2(7))', 'datetime')],
  ['DATETIME', 'SMALLDATETIME', held('CAST(O AS datetime2(0))', 'datetime')],
  ['DATETIME', 'DATE', 'TRY_CAST(O AS datetime)'],
  ['DATETIME', 'VARCHAR(30)', held("TRY_CONVERT(datetime2(7), NULLIF(O, ''))", 'datetime')],
  ['SMALLDATETIME', 'DATETIME', held('CAST(O AS datetime2(3))', 'smalldatetime')],
  ['SMALLDATETIME', 'DATE', 'TRY_CAST(O AS smalldatetime)'],
  ['DATETIME2(7)', 'DATETIME', 'CAST(O AS datetime2(3))'],
  ['DATETIME2(7)', 'DATETIME2(0)', 'O'],
  ['DATETIME2(7)', 'DATE', 'O'],
  ['DATE', 'DATETIME', "CASE WHEN CAST(O AS time(7)) = '00:00:00' THEN CAST(O AS date) END"],
])('a %s that is sought by a %s', (theirs, ours, sql) => {
  expect(sought(theirs, ours)).toBe(`T = ${sql}`);
});

test.each([
  ['DATETIME2(7)', 'DATETIME', 'CAST(O AS datetime2(3))'],
  ['DATETIME', 'DATE', 'CAST(O AS datetime2(0))'],
  ['SMALLDATETIME', 'DATE', 'CAST(O AS datetime2(0))'],
  ['DATE', 'DATETIME', 'CAST(O AS datetime2(3))'],
  ['DATE', 'SMALLDATETIME', 'CAST(O AS datetime2(0))'],
  ['DATETIME', 'DATETIME2(0)', 'CAST(O AS datetime2(0))'],
])('a %s that is later than a %s', (theirs, ours, sql) => {
  expect(later(theirs, ours)).toBe(`T > ${sql}`);
});
