/**
 * Writes the functions of expressions in T-SQL. In: a function's name and arguments. Out: SQL; values of a request are
 * parameters.
 * https://learn.microsoft.com/sql/t-sql/functions/functions
 */

import { needOf } from '../../time/dtm.ts';
import { zoneOf } from '../../time/zone.ts';
import type { ColumnType } from '../column-type.ts';
import {
  constantText,
  count,
  jsonSeparator,
  operand,
  pairs,
  separatorOf,
  unambiguousQuotes,
  type Writer,
} from '../dialect.ts';
import type { Expression, FunctionName } from '../expression.ts';
import { AS_IT_IS, BETWEEN, ESCAPES, escapedAsOne, keptIn, LEFT_OUT, ONE_BYTE, OTHER } from '../shared-functions.ts';
import { walk } from '../walk.ts';
import { comparedDtm, keyOfClock, keyOfDtm, stampOfIso } from './dtm.ts';
import { asText, BLANKS, binary, castInteger, castNumber, FOLDED, trimmed } from './forms.ts';
import { writtenDigits } from './written.ts';

/**
 * For TRANSLATE, because UPPER changes every letter that the collation knows, but SQLite and the codecs only ASCII
 * letters.
 */
const ASCII_CASES = "'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'";

export function call(writer: Writer, name: FunctionName, args: readonly (Expression | number)[]): string {
  const first = operand(args, 0);
  const x = () => asText(writer, first);
  switch (name) {
    case 'rtrim':
      return `RTRIM(${x()})`;
    case 'trim':
      return `TRIM(${BLANKS} FROM ${x()})`;
    case 'upper':
      return `TRANSLATE(${binary(x())}, ${ASCII_CASES})`;
    case 'fold':
      return `${x()} ${FOLDED}`;
    case 'words':
      return wordsOf(x(), first);
    case 'digits':
      return digitsOf(x());
    case 'replace':
      return `REPLACE(${binary(x())}, ${writer.expression(operand(args, 1))}, ${writer.expression(operand(args, 2))})`;
    case 'unescaped':
      return unescaped(x());
    case 'piece':
      return jsonPiece(writer, first, separatorOf(args), count(args, 2));
    case 'before':
      return `LEFT(${x()}, ${place(writer, x(), args)} - 1)`;
    case 'after':
      return `SUBSTRING(${x()}, ${place(writer, x(), args)} + ${separatorOf(args).length}, LEN(${x()}))`;
    case 'first-word':
    case 'after-first-word':
    case 'last-word':
    case 'before-last-word':
      // In binary collation, so that no other character equals the blank.
      return words(name, binary(trimmed(writer, first)));
    case 'number':
      if (first.type.kind !== 'text') return writer.expression(first);
      return castNumber(x());
    case 'whole': {
      const sql = writer.expression(first);
      if (first.type.kind === 'integer') return sql;
      // Of 64 bits, as on SQLite.
      const within = `${sql} >= -9223372036854775808E0 AND ${sql} < 9223372036854775808E0`;
      return `CASE WHEN ${sql} = FLOOR(${sql})${first.type.kind === 'float' ? ` AND ${within}` : ''} THEN ${sql} END`;
    }
    case 'instant':
      return instantOf(writer.expression(first), first.type, operand(args, 1));
    case 'scaled':
      return scaled(writer.expression(first), first.type, count(args, 1));
    case 'time-of-day':
      // With all digits, because fewer would round the last moments of a day to midnight.
      return `CAST(${writer.expression(first)} AS time(7))`;
    case 'text':
      return x();
    case 'uuid':
      if (first.type.kind !== 'binary') return `LOWER(${x()})`;
      return uuidOfBytes(writer, first);
    case 'concat':
      return `(${args.map((_, i) => binary(asText(writer, operand(args, i)))).join(' + ')})`;
    case 'id-length':
      return `(${pairs(args)
        .map(([of, how]) => lengthInId(asText(writer, of), how))
        .join(' + ')})`;
    case 'substring':
      return `SUBSTRING(${x()}, ${count(args, 1)}, ${count(args, 2)})`;
    case 'ymd': {
      const part = (at: number): string => {
        const of = operand(args, at);
        const sql = writer.expression(of);
        // A decimal, because an int could overflow and fail the whole statement.
        return `CAST(${of.type.kind === 'text' ? castInteger(sql) : sql} AS decimal(19,0))`;
      };
      return `TRY_CAST(${part(0)} * 10000 + ${part(1)} * 100 + ${part(2)} AS bigint)`;
    }
    case 'written': {
      const form = operand(args, 1);
      if (form.kind !== 'value') throw new TypeError('a form of dates is a constant');
      return writtenDigits(x(), String(form.value), count(args, 2) || undefined);
    }
    case 'iso':
      return stampOfIso(x());
    case 'dtm':
      return comparedDtm(x(), needOf(constantOf(args, 1)));
    case 'dtm-key':
      return keyOfDtm(x(), needOf(constantOf(args, 1)), zoneOf(constantOf(args, 2)));
    case 'clock-key':
      return keyOfClock(x(), zoneOf(constantOf(args, 1)), zoneOf(constantOf(args, 2)));
  }
}

function constantOf(args: readonly (Expression | number)[], at: number): string {
  const of = operand(args, at);
  if (of.kind !== 'value' || !of.constant) throw new TypeError('what is asked of a stamp is a constant');
  return String(of.value);
}

/**
 * Numbers that would have more than fifteen digits give NULL: below that, products are exact or checked by the
 * quotient. Uses a nested CASE, because the server may evaluate any part of an AND first, and larger numbers overflow.
 */
function scaled(sql: string, { kind }: ColumnType, digits: number): string {
  const power = kind === 'float' ? `1E${digits}` : `${10 ** digits}`;
  const units = kind === 'float' ? `ROUND(${sql} * ${power}, 0)` : `CAST(${sql} AS decimal(30,10)) * ${power}`;
  const isWhole = kind === 'float' ? `${units} / ${power} = ${sql}` : `${units} = FLOOR(${units})`;
  const whole = `CASE WHEN ${isWhole} THEN CAST(${units} AS bigint) END`;
  return `CASE WHEN ABS(${sql}) < 1${'0'.repeat(15 - digits)} THEN ${whole} END`;
}

/** Per unit: the largest count (larger ones would overflow, and are no instants), and the SQL of its milliseconds. */
const COUNTS: Readonly<Record<string, readonly [most: string, milliseconds: (count: string) => string]>> = {
  seconds: ['1E12', secondsIn],
  milliseconds: ['1E15', count => `CAST(FLOOR(${count}) AS bigint)`],
  days: ['1E7', count => `CAST(FLOOR(${count} * 86400000E0 + 0.5E0) AS bigint) - 210866760000000`],
};

/** Returns the last millisecond at or before the count: as a float, 1.001 times 1,000 is a little less than 1,001. */
function secondsIn(count: string): string {
  const near = `FLOOR(${count} * 1000E0)`;
  const found = `CASE WHEN (${near} + 1) / 1000E0 <= ${count} THEN ${near} + 1 WHEN ${near} / 1000E0 > ${count} THEN ${near} - 1 ELSE ${near} END`;
  return `CAST(${found} AS bigint)`;
}

function instantOf(sql: string, { kind }: Expression['type'], unit: Expression): string {
  const [most, milliseconds] = COUNTS[unit.kind === 'value' ? String(unit.value) : ''] ?? [];
  if (!milliseconds || (kind !== 'float' && kind !== 'decimal' && kind !== 'integer')) return 'CAST(NULL AS bigint)';
  return `CASE WHEN ${sql} BETWEEN -${most} AND ${most} THEN ${milliseconds(sql)} END`;
}

/** Returns a UUID; NULL for other than sixteen bytes. */
function uuidOfBytes(writer: Writer, of: Expression): string {
  const text = `LOWER(${hyphened(`CONVERT(nvarchar(32), ${writer.expression(of)}, 2)`)})`;
  return `CASE WHEN DATALENGTH(${writer.expression(of)}) = 16 THEN ${text} END`;
}

/** Writes 32 hexadecimal digits in the groups of a UUID. */
function hyphened(hex: string): string {
  return [9, 14, 19, 24].reduce((text, at) => `STUFF(${text}, ${at}, 0, '-')`, hex);
}

/**
 * Puts a blank before each word; several blanks between words do not affect the comparison with ` word`. Casts long
 * texts to nvarchar(max), so that nothing is cut off.
 */
function wordsOf(x: string, of: Expression): string {
  return `${wordsText(isLong(of) ? `CAST(${x} AS nvarchar(max))` : x)} ${FOLDED}`;
}

/**
 * Likewise for any text, in binary collation. The lists of TRANSLATE do not end in a blank, which a length might not
 * count.
 */
export function wordsText(x: string): string {
  const separators = `${BETWEEN}\t\r\n`.length;
  const from = `CONCAT(CHAR(9), CHAR(13), CHAR(10), N'${quoted(BETWEEN + LEFT_OUT)}')`;
  const to = `N'${' '.repeat(separators)}${quoted("'".repeat(LEFT_OUT.length))}'`;
  const text = binary(`(N' ' + ${x})`);
  return `REPLACE(TRANSLATE(${text}, ${from}, ${to}), N'''', N'')`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}

function isLong(of: Expression): boolean {
  const types: ColumnType[] = [];
  walk({ expressions: [of] }, { column: ({ type }) => void types.push(type) });
  return types.some(type => type.kind === 'text' && (type.length === 'max' || type.length >= 4000));
}

/**
 * Keeps the digits of a text. All other characters are first translated to one of them, and that one is removed. The
 * mark at the end of `other` keeps it from being empty, or from ending in blanks that LEN does not count. TRANSLATE
 * needs its second and third argument in one type, the column's: an empty part of `other` gives that type to the marks.
 */
function digitsOf(x: string): string {
  const other = `CONCAT(REPLACE(TRANSLATE(n.t, '123456789', '000000000'), '0', ''), '-')`;
  const marks = `CONCAT(REPLICATE('-', LEN(o.other)), LEFT(o.other, 0))`;
  const kept = `REPLACE(TRANSLATE(o.t, o.other, ${marks}), '-', '')`;
  return `(SELECT ${kept} FROM (SELECT n.t, ${other} AS other FROM (SELECT ${binary(x)} AS t) AS n) AS o)`;
}

/**
 * Returns the length of a key in an id. Characters that are not kept count as escaped, and among these, characters
 * beyond printable ASCII count more. LEN ignores trailing blanks, so a mark follows texts that may end in them.
 */
function lengthInId(x: string, how: number): string {
  if (how === AS_IT_IS) return `LEN(${x})`;
  const without = (text: string, characters: string): string => {
    const [last = '', others] = [characters.at(-1), characters.slice(0, -1)];
    return `REPLACE(TRANSLATE(${text}, '${quoted(others)}', '${last.repeat(others.length)}'), '${last}', '')`;
  };
  const length = (text: string): string => `(LEN(CONCAT(${text}, '-')) - 1)`;
  const other = without('n.t', keptIn(how));
  const rest = without('o.other', escapedAsOne(how));
  return (
    `(SELECT LEN(o.t) + ${ONE_BYTE - 1} * ${length('o.other')} + ${OTHER - ONE_BYTE} * ${length(rest)}` +
    ` FROM (SELECT n.t, ${other} AS other FROM (SELECT ${binary(`RTRIM(${x})`)} AS t) AS n) AS o)`
  );
}

/** Returns the position of the separator, NULL if it does not occur. */
function place(writer: Writer, sql: string, args: readonly (Expression | number)[]): string {
  return `NULLIF(CHARINDEX(${constantText(writer, separatorOf(args))}, ${binary(sql)}), 0)`;
}

function words(name: 'first-word' | 'after-first-word' | 'last-word' | 'before-last-word', x: string): string {
  switch (name) {
    case 'first-word':
      return `LEFT(${x}, CHARINDEX(' ', ${x} + ' ') - 1)`;
    case 'after-first-word':
      return `LTRIM(SUBSTRING(${x}, NULLIF(CHARINDEX(' ', ${x}), 0), LEN(${x})))`;
    case 'last-word':
      return `RIGHT(${x}, CHARINDEX(' ', REVERSE(${x}) + ' ') - 1)`;
    case 'before-last-word':
      return `NULLIF(RTRIM(LEFT(${x}, LEN(${x}) - NULLIF(CHARINDEX(' ', REVERSE(${x})), 0))), '')`;
  }
}

/**
 * Replaces escapes. Every second piece between backslashes is an escape, unless no backslash ends it. The mark after it
 * keeps `F` with a blank from equalling `F`.
 */
function unescaped(x: string): string {
  const known = [...ESCAPES].map(([code, text]) => {
    const characters = text === '\n' ? 'NCHAR(10)' : `N'${text}'`;
    return `WHEN ${binary(`(k.v + N'-')`)} = N'${code}-' THEN ${characters}`;
  });
  const array = `'["' + REPLACE(STRING_ESCAPE(${binary(x)}, 'json'), '\\\\', '","') + '"]'`;
  const number = 'CAST([key] AS int)';
  const pieces = `(SELECT ${number} AS n, value AS v, MAX(${number}) OVER () AS last FROM OPENJSON(${array})) AS k`;
  const text = [
    'CASE WHEN k.n % 2 = 0 THEN k.v',
    "WHEN k.n = k.last THEN N'\\' + k.v",
    ...known,
    "ELSE N'\\' + k.v + N'\\' END",
  ].join(' ');
  return `(SELECT STRING_AGG(${text}, N'') WITHIN GROUP (ORDER BY k.n) FROM ${pieces})`;
}

/** Reads one piece from the text as a JSON array. STRING_ESCAPE comes first, so any content works. */
function jsonPiece(writer: Writer, of: Expression, by: string, position: number): string {
  if (position < 1) throw new TypeError('positions count from 1');
  const inJson = `STRING_ESCAPE(${binary(asText(writer, of))}, 'json')`;
  const escaped = by === '"' ? unambiguousQuotes(inJson) : inJson;
  const separator = constantText(writer, jsonSeparator(by, true));
  return `JSON_VALUE('["' + REPLACE(${escaped}, ${separator}, '","') + '"]', '$[${position - 1}]')`;
}
