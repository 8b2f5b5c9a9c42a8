/**
 * The T-SQL that reads HL7 v2 timestamps, run on SQLite: functions replace those of SQL Server, and other spellings are
 * rewritten.
 */
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  comparedDtm as comparedInSql,
  stampOfIso as isoInSql,
  keyOfDtm as keyInSql,
} from '../../../src/sql/mssql/dtm.ts';
import { comparedDtm, type DtmNeed, keyOfDtm, stampOfIso } from '../../../src/time/dtm.ts';
import { zoneOf } from '../../../src/time/zone.ts';

const database = new DatabaseSync(':memory:');
type Value = SQLOutputValue;

/** Like SQL Server's: NULL if an argument is NULL. */
function define(name: string, of: (text: string, b: Value, c: Value, d: Value) => Value): void {
  const pure = { deterministic: true, varargs: true };
  database.function(name, pure, (...args: Value[]) => {
    const [a = null, b = null, c = null, d = null] = args;
    return args.includes(null) ? null : of(String(a), b, c, d);
  });
}

define('like', (pattern, text) => {
  // SQL Server's documentation allows a literal hyphen at the start of a class only; Babelfish reads one at the end as
  // a range.
  if (/\[\^?[^\]]+-\]/.test(pattern)) throw new TypeError(`a hyphen ends a class: ${pattern}`);
  const names: Readonly<Record<string, string>> = { '%': '[^]*', _: '.', '.': '[.]' };
  const source = pattern.replace(/\[[^\]]*\]|[%._]/g, part => names[part] ?? part);
  return Number(new RegExp(`^${source}$`).test(String(text)));
});
define('left_of', (text, count) => text.slice(0, Number(count)));
define('right_of', (text, count) => text.slice(Math.max(0, text.length - Number(count))));
define('length_of', text => text.trimEnd().length);
define('part_of', (text, from, count) => text.slice(Number(from) - 1, Number(from) - 1 + Number(count)));
define('place_in', (what, text) => String(text).indexOf(what) + 1);
// A position after the end of the text gives no character.
define('stuffed', (text, at, count, more) =>
  Number(at) > text.length ? null : text.slice(0, Number(at) - 1) + more + text.slice(Number(at) - 1 + Number(count)),
);
define('moment_of', text => {
  const found = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? new Date(`${text}Z`) : undefined;
  return found?.toString() !== 'Invalid Date' && found?.toISOString().startsWith(text) ? text : null;
});
define('written_moment', text => text.replace('T', ' '));
define('minutes_later', (minutes, moment) =>
  new Date(Date.parse(`${moment}Z`) + Number(minutes) * 60_000).toISOString().slice(0, 19),
);
define('seconds_between', (from, to) => {
  const seconds = (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / 1000;
  // A server may evaluate the selected expressions before it filters rows, as SQLite does before sorting.
  if (Math.abs(seconds) > 0x7fffffff) throw new RangeError('The datediff function resulted in an overflow');
  return seconds;
});
define('many_seconds_between', (from, to) => (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / 1000);
define('in_characters', (number, count) => {
  if (number.length > Number(count)) throw new RangeError('Arithmetic overflow error converting to nvarchar');
  return number;
});

/** Rewritten for SQLite. */
function onSqlite(sql: string): string {
  return sql
    .replaceAll(' COLLATE Latin1_General_BIN2', '')
    .replaceAll('CAST(v.a AS datetime2(0)) AS a, v.o, v.p', 'v.column1 AS a, v.column2 AS o, v.column3 AS p')
    .replaceAll(') AS v(a, o, p)', ') AS v')
    .replaceAll('SELECT TOP (1)', 'SELECT')
    .replaceAll('ORDER BY k.a DESC', 'ORDER BY k.a DESC LIMIT 1')
    .replaceAll('TRY_CONVERT(datetime2(0), ', 'moment_of(')
    .replaceAll('CONVERT(nvarchar(19), ', 'written_moment(')
    .replace(
      /CONVERT\(nvarchar\((8|20)\), (CAST\(DATEDIFF.*? AS int\)|DATEDIFF_BIG.*? AS int\))\)/g,
      'in_characters($2, $1)',
    )
    .replaceAll('DATEADD(minute, ', 'minutes_later(')
    .replaceAll('DATEDIFF(second, ', 'seconds_between(')
    .replaceAll('DATEDIFF_BIG(second, ', 'many_seconds_between(')
    .replaceAll('CHARINDEX(', 'place_in(')
    .replaceAll('STUFF(', 'stuffed(')
    .replaceAll('SUBSTRING(', 'part_of(')
    .replace(/\bLEFT\(/g, 'left_of(')
    .replace(/\bRIGHT\(/g, 'right_of(')
    .replaceAll('LEN(', 'length_of(')
    .replace(/ \+ (?!1,|CAST\()/g, ' || ');
}

const stamps = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          '2024',
          '202411',
          '20241103',
          '20240310',
          '20240407',
          '20240230',
          '00010101',
          '99991231',
          '2099',
        ),
        fc.constantFrom('', '01', '0130', '013000', '022959', '235959', '24', '0160', '083'),
        fc.constantFrom('', '.5', '.123', '.12345', '.1234567', '.', '.12345678'),
        fc.constantFrom('', '', '-0500', '-0400', '+1030', '+1400', '-1401', '+0060', '-05'),
        fc.constantFrom('', ' '),
      )
      .map(parts => parts.join('')),
  },
  fc.constantFrom('', '""', ' ', ' 2024', '0000', '2024x', '20241103T01', '-0500', '.5', '2024+1100-0500'),
);

test.each<[DtmNeed, string]>([
  ['day', 'UTC'],
  ['moment', 'America/New_York'],
  ['moment', 'Australia/Lord_Howe'],
  ['midnight', 'Europe/Berlin'],
  ['second', 'America/Sao_Paulo'],
])('T-SQL reads timestamps like the codec if a %s is needed, in the zone %s', (need, name) => {
  const zone = zoneOf(name);
  const compared = database.prepare(`SELECT ${onSqlite(comparedInSql('?1', need))} AS d`);
  const key = database.prepare(`SELECT ${onSqlite(keyInSql('?1', need, zone))} AS d`);
  let found = 0;
  fc.assert(
    fc.property(stamps, text => {
      const wanted = { text, compared: comparedDtm(text, need) ?? null, key: keyOfDtm(text, need, zone) ?? null };
      if (wanted.key !== null) found++;
      expect({ text, compared: compared.get(text)?.['d'], key: key.get(text)?.['d'] }).toEqual(wanted);
    }),
    { numRuns: 1000 },
  );
  expect(found).toBeGreaterThan(20);
});

test('the SQL of the compared value, which a statement repeats, is short', () => {
  expect(comparedInSql('t.OBX_14', 'moment').length).toBeLessThan(2200);
});

const moments = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom('2024', '2024-11', '2024-11-03', '2024-02-30', '0001-01-01', '20241103', '2024-1-03'),
        fc.constantFrom('', 'T01:30', ' 01:30:00', 'T22:59:59', 'T24:00:00', 't01:30', 'T01', 'T1:30', 'T01:30:5'),
        fc.constantFrom('', '.5', '.123', '.123456789', '.1234567891', '.', ',5', '.5x'),
        fc.constantFrom('', 'Z', 'z', '+02:00', '-0500', '+14', '-1', '+2:00', ' Z', '  -05:00', ' ', '+02:0'),
        fc.constantFrom('', ' '),
      )
      .map(parts => parts.join('')),
  },
  fc.constantFrom('', ' ', 'Z', '-05:00', ' 2024', '2024-11-03Z', '2024-11-03T01:30Z-05:00', 'N/A'),
);

test('T-SQL reads moments of ISO 8601 like the codec', () => {
  const inSql = database.prepare(`SELECT ${onSqlite(isoInSql('?1'))} AS d`);
  const compared = database.prepare(`SELECT ${onSqlite(comparedInSql(isoInSql('?1'), 'moment'))} AS d`);
  let found = 0;
  fc.assert(
    fc.property(moments, text => {
      const stamp = stampOfIso(text);
      if (stamp !== undefined) found++;
      const wanted = { text, stamp: stamp ?? null, compared: (stamp && comparedDtm(stamp, 'moment')) ?? null };
      expect({ text, stamp: inSql.get(text)?.['d'], compared: compared.get(text)?.['d'] }).toEqual(wanted);
    }),
    { numRuns: 5000 },
  );
  expect(found).toBeGreaterThan(100);
});
