/**
 * Texts of a code page that the comparison's collations cannot represent: they are converted to Unicode before an exact
 * comparison, next to the plain comparison that can seek.
 */
import { expect, it } from 'vitest';
import { type ColumnType, UNICODE } from '../../../src/sql/column-type.ts';
import { call, equals, filled, glob, not, value } from '../../../src/sql/construct.ts';
import type { Expression, Predicate } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { parseMssqlType, printMssqlType } from '../../../src/sql/mssql/types.ts';
import { renderExpression, renderPredicate } from '../../../src/sql/render.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

function column(declared: string): Expression {
  const type = parseMssqlType(declared);
  if (type === undefined) throw new Error(`no type ${declared}`);
  return { kind: 'column', alias: identifier('p'), column: identifier('NAM'), type };
}

const POLISH = column('VARCHAR(40) CP1250');
const UTF8 = column('NVARCHAR(40) CP65001');
const LATIN = column('VARCHAR(40)');

function textOf(predicate: Predicate): string {
  const { text } = renderPredicate(predicate, MSSQL);
  expect(tsqlProblems(`SELECT 1 FROM P AS p WHERE ${text}`)).toEqual([]);
  return text;
}

it('the code page is part of a declared type, of texts alone', () => {
  const polish: ColumnType = { kind: 'text', unicode: false, fixed: false, length: 40, codePage: 1250 };
  expect(parseMssqlType('VARCHAR(40) CP1250')).toEqual(polish);
  expect(printMssqlType(polish)).toBe('varchar(40) CP1250');
  expect(parseMssqlType('TEXT CP1251')).toMatchObject({ lob: true, codePage: 1251 });
  expect(parseMssqlType('INT CP1250')).toBeUndefined();
});

it('comparisons and sorts use Unicode; index seeks use the bare column', () => {
  const asked = value('Łódź', UNICODE);
  const unicode = 'CAST(p.NAM AS nvarchar(40))';
  expect(textOf(equals(POLISH, asked))).toBe(`(p.NAM = @p0 AND ${unicode} COLLATE Latin1_General_BIN2 = @p0)`);
  expect(textOf(equals(UTF8, asked))).toContain(`${unicode} COLLATE Latin1_General_BIN2 = @p0`);
  expect(textOf(not(equals(POLISH, asked)))).toBe(`(${unicode} COLLATE Latin1_General_BIN2 <> @p0 OR p.NAM IS NULL)`);
  const folded: Predicate = {
    kind: 'contains',
    of: call('fold', [POLISH], UNICODE),
    where: 'start',
    texts: ['łód'],
    not: false,
  };
  expect(textOf(folded)).toBe(`RTRIM(${unicode}) COLLATE Latin1_General_100_CI_AI LIKE @p0`);
  expect(textOf(glob(POLISH, 'Ł*'))).toMatch(
    /^RTRIM\(CAST\(p\.NAM AS nvarchar\(40\)\)\) COLLATE Latin1_General_BIN2 LIKE /,
  );
  expect(textOf(filled(POLISH))).toContain(unicode);
  expect(renderExpression(call('last-word', [POLISH], UNICODE), MSSQL).text).toContain(`RTRIM(${unicode})`);
});

it('texts of code page 1252 are compared directly', () => {
  expect(textOf(equals(LATIN, value('Zoë', UNICODE)))).toBe(
    '(p.NAM = @p0 AND p.NAM COLLATE Latin1_General_BIN2 = @p0)',
  );
});
