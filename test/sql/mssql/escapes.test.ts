/**
 * The T-SQL that reads HL7 v2 escapes, run on SQLite: other spellings are rewritten. As on SQL Server, texts that
 * differ only in trailing blanks are equal.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { call, value } from '../../../src/sql/construct.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { renderExpression } from '../../../src/sql/render.ts';
import { unescaped } from '../../../src/sql/shared-functions.ts';
import { runsOf } from '../../share.ts';

const database = new DatabaseSync(':memory:');
database.function('STRING_ESCAPE', text =>
  text === null ? null : JSON.stringify(String(text)).slice(1, -1).replaceAll('/', '\\/'),
);

/** Rewritten for SQLite. */
function onSqlite(sql: string): string {
  return sql
    .replaceAll('COLLATE Latin1_General_BIN2', 'COLLATE RTRIM')
    .replaceAll(", 'json')", ')')
    .replaceAll('OPENJSON(', 'json_each(')
    .replaceAll(/N(?=')/g, '')
    .replaceAll('NCHAR(10)', 'char(10)')
    .replaceAll(' + ', ' || ')
    .replace('STRING_AGG(', 'group_concat(')
    .replace(/, ''\) WITHIN GROUP \((ORDER BY k\.n)\)/, ", '' $1)");
}

const codes = fc.constantFrom('F', 'S', 'T', 'R', 'E', 'H', 'N', '.br', '.sp', 'X0A', 'X0D', 'X0D0A', 'f', 'Z9');
const texts = fc
  .array(
    fc.oneof(
      fc.tuple(codes, fc.constantFrom('', ' ', '  ')).map(([code, blanks]) => `\\${code}${blanks}\\`),
      fc.constantFrom(
        '\\',
        '\\\\',
        '\\ \\',
        ' ',
        'A',
        '"',
        '/',
        '\n',
        '\t',
        'é',
        '|',
        '\\constructor\\',
        '\\__proto__\\',
      ),
    ),
    { maxLength: 6 },
  )
  .map(parts => parts.join(''));

test('reads escapes as the text step does, among blanks, quotes and lone backslashes', () => {
  const { text } = renderExpression(call('unescaped', [value('', UNICODE)], UNICODE), MSSQL);
  const read = database.prepare(`SELECT ${onSqlite(text)} AS t`);
  fc.assert(
    fc.property(texts, stored => {
      expect({ stored, read: read.get({ p0: stored })?.['t'] }).toEqual({ stored, read: unescaped(stored) });
    }),
    { numRuns: runsOf(2000) },
  );
});
