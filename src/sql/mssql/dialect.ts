/**
 * T-SQL's half of the compiler, for SQL Server 2017 and later (TRIM, STRING_SPLIT, JSON_VALUE; compatibility level 130).
 * A column's own collation is usually blind to case, and its index is sorted by it. So an exact comparison stands beside
 * the plain one that can seek.
 * https://learn.microsoft.com/sql/t-sql/functions/functions
 * https://learn.microsoft.com/sql/relational-databases/collations/collation-and-unicode-support
 */
import type { ColumnType } from '../column-type.ts';
import { UNICODE } from '../column-type.ts';
import type { Dialect, Writer } from '../dialect.ts';
import { count, endsTrimmed, jsonSeparator, operand, separatorOf } from '../dialect.ts';
import type { Expression, FunctionName, Predicate } from '../expression.ts';
import { sqlName } from '../name.ts';
import { familyOf, looseType } from '../parameter-type.ts';
import { fetchForm, textForm } from './forms.ts';

const BINARY = 'COLLATE Latin1_General_BIN2';
const FOLDED = 'COLLATE Latin1_General_100_CI_AI';
const BLANKS = 'CONCAT(CHAR(32), CHAR(9), CHAR(13), CHAR(10))';
const EIGHT_DIGITS = `'${'[0-9]'.repeat(8)}'`;

export const MSSQL: Dialect = {
  engine: 'mssql',
  seeksApart: true,
  byRow: '',
  fragments: undefined,
  placeholder: position => `@p${position}`,
  table: ({ schema, name }) => (schema === undefined ? sqlName(name) : `${sqlName(schema)}.${sqlName(name)}`),
  column: (sql, type) =>
    type.kind === 'text' && type.lob ? `CAST(${sql} AS ${type.unicode ? 'n' : ''}varchar(max))` : sql,
  // 2,100 of sp_executesql, of which it takes two itself.
  parametersAtMost: 2098,
  top: limit => `TOP (${limit()}) `,
  tail: () => '',

  pick(writer, join, pick) {
    const kind = join.kind === 'left' ? 'OUTER APPLY' : 'CROSS APPLY';
    const table = MSSQL.table(join.table);
    const alias = sqlName(join.alias);
    const on = writer.predicate(join.on);
    return `${kind} (SELECT TOP (1) ${alias}.* FROM ${table} AS ${alias} WHERE ${on} ORDER BY ${writer.order(pick)}) AS ${alias}`;
  },

  exact: (sql, of) => (isFold(of) ? sql : binary(sql)),
  cast,
  /** A varchar column beside Unicode would be converted, and its index lost; what this loses, the exact part refuses. */
  seekOperand: (sql, from, to) =>
    from.kind === 'text' && to.kind === 'text' && from.unicode && !to.unicode && !sql.startsWith('@')
      ? `CAST(${sql} AS varchar(8000))`
      : sql,
  contains,
  glob: (writer, of, pattern) => `${binary(trimmed(writer, of))} LIKE ${bindText(writer, likePattern(pattern))}`,
  packedDate,
  call,

  pieces(writer, of, by) {
    const separator = bindSeparator(writer, by);
    const value = 'CAST(value AS nvarchar(max))';
    return `SELECT TRIM(${BLANKS} FROM ${value}) AS piece FROM STRING_SPLIT(${asText(writer, of)}, ${separator})`;
  },

  fetch: (writer, expression) => fetchForm(writer.expression(expression), expression.type),
};

/** UPPER changes every letter that the collation knows; SQLite and the codecs change those of ASCII. */
const ASCII_CASES = "'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'";

function isFold(of: Expression): boolean {
  return of.kind === 'function' && of.name === 'fold';
}

/** The last COLLATE counts, so it is never written twice. */
function binary(sql: string): string {
  return sql.endsWith(BINARY) ? sql : `${sql} ${BINARY}`;
}

function bindText(writer: Writer, text: string): string {
  return writer.bind(text, looseType(text, UNICODE));
}

function bindSeparator(writer: Writer, separator: string): string {
  jsonSeparator(separator, true);
  return writer.bind(separator, { kind: 'text', unicode: true, fixed: false, length: 1 });
}

function asText(writer: Writer, of: Expression): string {
  return textForm(writer.expression(of), of.type);
}

function trimmed(writer: Writer, of: Expression): string {
  const sql = asText(writer, of);
  return endsTrimmed(of) ? sql : `RTRIM(${sql})`;
}

function cast(sql: string, from: ColumnType, to: ColumnType): string {
  const text = familyOf(from) === 'text';
  switch (familyOf(to)) {
    case 'text':
      return textForm(sql, from);
    case 'number':
      if (!text) return 'NULL';
      return to.kind === 'integer' ? castInteger(sql) : castNumber(sql);
    case 'moment':
      if (familyOf(from) === 'moment') return sql;
      return text ? `TRY_CONVERT(${to.kind === 'date' ? 'date' : 'datetime2(7)'}, NULLIF(${sql}, ''))` : 'NULL';
    case 'time':
      return text ? `TRY_CONVERT(time(7), NULLIF(${sql}, ''))` : 'NULL';
    case 'uuid':
      return text ? `CASE WHEN LEN(${sql}) = 36 THEN TRY_CAST(${sql} AS uniqueidentifier) END` : 'NULL';
    case 'binary':
      return 'NULL';
  }
}

/** TRY_CAST alone takes an empty text and a lone sign as 0. */
function castInteger(sql: string): string {
  const text = binary(`RTRIM(${sql})`);
  return `CASE WHEN ${text} LIKE '%[0-9]' AND ${text} NOT LIKE '%[^-0-9]%' THEN TRY_CAST(${sql} AS bigint) END`;
}

/** The guards are for what TRY_CAST takes beyond the grammar `-?\d+(\.\d+)?`: signs, blanks, a point at either end. */
function castNumber(sql: string): string {
  const grammar = `n.t LIKE '%[0-9]' AND n.t NOT LIKE '%[^-0-9.]%' AND n.t NOT LIKE '.%' AND n.t NOT LIKE '-.%'`;
  const number = `CASE WHEN ${grammar} THEN TRY_CAST(n.t AS decimal(38,10)) END`;
  return `(SELECT ${number} FROM (SELECT ${binary(`TRIM(${BLANKS} FROM ${sql})`)} AS t) AS n)`;
}

function contains(writer: Writer, { of, where, text }: Extract<Predicate, { kind: 'contains' }>): string {
  const sql = isFold(of) ? foldedTrimmed(writer, of) : binary(trimmed(writer, of));
  if (where === 'whole') return `${sql} = ${bindText(writer, text)}`;
  const escaped = text.replace(/[%_[]/g, '[$&]');
  return `${sql} LIKE ${bindText(writer, where === 'start' ? `${escaped}%` : `%${escaped}%`)}`;
}

function foldedTrimmed(writer: Writer, of: Expression): string {
  if (of.kind !== 'function' || endsTrimmed(of)) return writer.expression(of);
  return `${trimmed(writer, operand(of.args, 0))} ${FOLDED}`;
}

/**
 * GLOB's spelling in LIKE's. Classes are the same in both; `%` and `_` stand for themselves.
 */
export function likePattern(glob: string): string {
  return glob.replace(/\[\^?\]?[^\]]*\]|[*?%_]/g, found => {
    switch (found) {
      case '*':
        return '%';
      case '?':
        return '_';
      case '%':
      case '_':
        return `[${found}]`;
      default:
        return found;
    }
  });
}

function packedDate(writer: Writer, of: Expression): string {
  if (of.type.kind === 'integer') return packedInteger(() => writer.expression(of));
  const x = () => trimmed(writer, of);
  return [
    `(${binary(x())} LIKE ${EIGHT_DIGITS} AND LEFT(${x()}, 4) <> '0000' AND (SUBSTRING(${x()}, 5, 4) = '0000'`,
    `SUBSTRING(${x()}, 7, 2) = '00' AND SUBSTRING(${x()}, 5, 2) BETWEEN '01' AND '12'`,
    `TRY_CONVERT(date, ${x()}, 112) IS NOT NULL))`,
  ].join(' OR ');
}

function packedInteger(x: () => string): string {
  return [
    `(${x()} BETWEEN 10000 AND 99991231 AND (${x()} % 10000 = 0`,
    `${x()} % 100 = 0 AND ${x()} / 100 % 100 BETWEEN 1 AND 12`,
    `TRY_CONVERT(date, RIGHT('000' + CONVERT(nvarchar(20), ${x()}), 8), 112) IS NOT NULL))`,
  ].join(' OR ');
}

function call(writer: Writer, name: FunctionName, args: readonly (Expression | number)[]): string {
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
    case 'digits':
      return digitsOf(x());
    case 'replace':
      return `REPLACE(${binary(x())}, ${writer.expression(operand(args, 1))}, ${writer.expression(operand(args, 2))})`;
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
      // Binary, so that no other character counts as the blank.
      return words(name, binary(trimmed(writer, first)));
    case 'number':
      if (first.type.kind !== 'text') return writer.expression(first);
      return castNumber(x());
    case 'text':
      return x();
    case 'concat':
      return `(${args.map((_, i) => binary(asText(writer, operand(args, i)))).join(' + ')})`;
    case 'substring':
      return `SUBSTRING(${x()}, ${count(args, 1)}, ${count(args, 2)})`;
    case 'ymd': {
      const part = (at: number): string => {
        const of = operand(args, at);
        const sql = writer.expression(of);
        // Whatever stands in the columns: an int would overflow, and fail the whole statement.
        return `CAST(${of.type.kind === 'text' ? castInteger(sql) : sql} AS decimal(19,0))`;
      };
      return `TRY_CAST(${part(0)} * 10000 + ${part(1)} * 100 + ${part(2)} AS bigint)`;
    }
  }
}

/**
 * The characters that are no digits are made to one of them, which is taken out: right whatever they are. The mark at the
 * end of `other` keeps it from being empty, or from ending in blanks that LEN does not count. TRANSLATE wants its second
 * and third argument to be of one type, that of the column: nothing of `other` makes the marks that.
 */
function digitsOf(x: string): string {
  const other = `CONCAT(REPLACE(TRANSLATE(n.t, '123456789', '000000000'), '0', ''), '-')`;
  const marks = `CONCAT(REPLICATE('-', LEN(o.other)), LEFT(o.other, 0))`;
  const kept = `REPLACE(TRANSLATE(o.t, o.other, ${marks}), '-', '')`;
  return `(SELECT ${kept} FROM (SELECT n.t, ${other} AS other FROM (SELECT ${binary(x)} AS t) AS n) AS o)`;
}

/** Where the separator begins, NULL where it does not occur. */
function place(writer: Writer, sql: string, args: readonly (Expression | number)[]): string {
  return `NULLIF(CHARINDEX(${bindText(writer, separatorOf(args))}, ${binary(sql)}), 0)`;
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

/** The text as a JSON array of its pieces: right for any content, since STRING_ESCAPE comes first. */
function jsonPiece(writer: Writer, of: Expression, by: string, position: number): string {
  if (position < 1) throw new TypeError('positions count from 1');
  const escaped = `STRING_ESCAPE(${binary(asText(writer, of))}, 'json')`;
  const separator = bindText(writer, jsonSeparator(by, true));
  return `JSON_VALUE('["' + REPLACE(${escaped}, ${separator}, '","') + '"]', '$[${position - 1}]')`;
}
