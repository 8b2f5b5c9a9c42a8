/**
 * The T-SQL that reads written dates, run on SQLite: functions stand in for SQL Server's LIKE and TRY_CONVERT, and
 * other spellings are rewritten.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writtenDigits } from '../../../src/sql/mssql/written.ts';
import { writtenReader } from '../../../src/time/written-form.ts';
import { writtenTexts } from '../../mapping/codecs/written-texts.ts';

const database = new DatabaseSync(':memory:');
database.function('like', { deterministic: true }, (pattern, text) => {
  if (pattern === null || text === null) return null;
  const source = String(pattern).replace(/\[[^\]]*\]|[%.]/g, part => ({ '%': '[^]*', '.': '[.]' })[part] ?? part);
  return Number(new RegExp(`^${source}$`).test(String(text)));
});
database.function('try_date', { deterministic: true }, text => {
  const [, y = '', m = '', d = ''] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(text)) ?? [];
  const day = new Date(`${y}-${m}-${d}T00:00:00Z`);
  const isDay = y >= '0001' && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(`${y}-${m}-${d}`);
  return isDay ? String(text) : null;
});

/** Rewritten for SQLite. */
function onSqlite(sql: string): string {
  return sql
    .replaceAll(' COLLATE Latin1_General_BIN2', '')
    .replace(/TRIM\(CONCAT\(.*?\)\)? FROM \?1\)/, 'TRIM(?1, char(32, 9, 13, 10))')
    .replace(/TRY_CONVERT\(date, (SUBSTRING\([^)]*\)), 112\)/g, 'try_date($1)')
    .replace(/RIGHT\((.*?), 2\) END/g, 'substr($1, -2) END')
    .replace(/CONVERT\(varchar\(2\), /g, 'concat(')
    .replaceAll('TRY_CAST', 'CAST')
    .replace(/(?<!% \d\d) \+ (?!CASE WHEN SUBSTRING\([^)]*\) LIKE)/g, ' || ')
    .replaceAll('LEN(', 'LENGTH(');
}

test.each<[form: string, from?: number]>([
  ['DD/MM/YYYY'],
  ['M/D/YY', 1935],
  ['DD-MON-YY', 1930],
  ['D.M.YYYY'],
  ['MM/YYYY'],
  ['M/YY', 1935],
  ['MON YYYY'],
  ['YYYYMM'],
  ['YYYY'],
  ['DD/MM/YYYY HH:mm'],
  ['M/D/YYYY h:mm:ss AM'],
  ['YYYYMMDDHHmmss'],
  ['MON D YYYY h:mmAM'],
  ['MON D, YYYY'],
  ['MON D, YYYY@HH:mm:ss'],
  ['M/D/YYYY, h:mm:ss AM'],
  ['DD-MON-YY HH:mm', 1935],
  ['YYYY-MM-DDTH:mm:ss'],
])('T-SQL reads texts of %s from %j like the codec', (form, from) => {
  const statement = database.prepare(`SELECT ${onSqlite(writtenDigits('?1', form, from))} AS d`);
  const read = writtenReader(form, from);
  let found = 0;
  fc.assert(
    fc.property(writtenTexts(form), text => {
      const wanted = read(text) ?? null;
      if (wanted !== null) found++;
      expect({ text, d: statement.get(text)?.['d'] }).toEqual({ text, d: wanted });
    }),
    { numRuns: 1500 },
  );
  expect(found).toBeGreaterThan(20);
});

test.each([
  ['DD/MM/YYYY HH:mm', 1500],
  ['M/D/YYYY h:mm:ss AM', 9000],
])('SQL of %s, which a statement repeats, has at most %i characters', (form, most) => {
  expect(writtenDigits('t.SENT_TS', form, undefined).length).toBeLessThan(most);
});
