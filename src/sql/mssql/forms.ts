/**
 * Writes values in T-SQL: in the form in which they are fetched, cast to another type, or as texts for comparison. In:
 * an expression's SQL and type. Out: SQL.
 * https://learn.microsoft.com/sql/t-sql/functions/cast-and-convert-transact-sql
 */

import type { ColumnType } from '../column-type.ts';
import { endsTrimmed, type Writer } from '../dialect.ts';
import type { Expression } from '../expression.ts';
import { familyOf } from '../parameter-type.ts';

/** Returns a value as it is fetched. Only for the outermost select list: in a WHERE it would make an index useless. */
export function fetchForm(sql: string, type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      // The driver decodes varchar several times slower than nvarchar.
      return type.unicode ? sql : unicodeForm(sql, type.length);
    case 'bit':
      return `CAST(${sql} AS int)`;
    case 'integer':
      return type.bits === 64 ? textForm(sql, type) : sql;
    case 'float':
    case 'binary':
      return sql;
    default:
      return textForm(sql, type);
  }
}

/** Returns the server's own text of a value, by one conversion per type; bytes and floats stay unchanged. */
export function storedForm(sql: string, type: ColumnType): string {
  if (type.kind === 'text') return unicodeForm(sql, 'max');
  // With its offset, which fetched rows do not have.
  if (type.kind === 'instant') return `CONVERT(nvarchar(34), ${sql}, 121)`;
  return type.kind === 'binary' || type.kind === 'float' ? sql : textForm(sql, type);
}

function unicodeForm(sql: string, length: number | 'max'): string {
  return `CAST(${sql} AS nvarchar(${length === 'max' || length > 4000 ? 'max' : length}))`;
}

/**
 * Returns a value as text, NULL for NULL. Text stays unchanged, unless the collations of comparisons cannot represent
 * it.
 */
export function textForm(sql: string, type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      return type.codePage === undefined ? sql : unicodeForm(sql, type.length);
    case 'bit':
    case 'integer':
      return `CONVERT(nvarchar(20), ${sql})`;
    case 'decimal':
      // money prints two of its four digits unless it becomes a decimal first.
      return type.scale === 4
        ? `CONVERT(nvarchar(42), CAST(${sql} AS decimal(${type.precision},4)))`
        : `CONVERT(nvarchar(42), ${sql})`;
    case 'float':
      return `CONVERT(nvarchar(40), ${sql}, 3)`;
    case 'date':
      return `CONVERT(nvarchar(10), ${sql}, 23)`;
    case 'datetime':
      return dateTimeText(sql, type.fraction);
    case 'instant':
      if (type.utc) return dateTimeText(sql, type.fraction);
      return dateTimeText(`CAST(SWITCHOFFSET(${sql}, 0) AS datetime2(${type.fraction}))`, type.fraction);
    case 'time':
      return `CONVERT(nvarchar(${type.fraction === 0 ? 8 : 9 + type.fraction}), ${sql}, 121)`;
    case 'uuid':
      return `CONVERT(nvarchar(36), ${sql})`;
    case 'binary':
      return `CONVERT(nvarchar(max), ${sql}, 2)`;
  }
}

function dateTimeText(sql: string, fraction: number): string {
  return `CONVERT(nvarchar(${fraction === 0 ? 19 : 20 + fraction}), ${sql}, 121)`;
}

/**
 * Casts a value to another type, NULL if impossible. In: SQL and its type; whether it is compared for equality with a
 * column of the other type. Out: SQL.
 * https://learn.microsoft.com/sql/t-sql/functions/try-cast-transact-sql
 */
export function cast(sql: string, from: ColumnType, to: ColumnType, isSought = false): string {
  const text = familyOf(from) === 'text';
  switch (familyOf(to)) {
    case 'text':
      return textForm(sql, from);
    case 'number':
      if (!text) return 'NULL';
      return to.kind === 'integer' ? castInteger(sql) : castNumber(sql);
    case 'moment':
      if (text) return momentOfText(sql, to, isSought);
      if (from.kind !== 'date' && from.kind !== 'datetime') return 'NULL';
      return isSought ? soughtMoment(sql, from, to) : plainMoment(sql, from, to);
    case 'time':
      return text ? `TRY_CONVERT(time(7), NULLIF(${sql}, ''))` : 'NULL';
    case 'uuid':
      return text ? `CASE WHEN LEN(${sql}) = 36 THEN TRY_CAST(${sql} AS uniqueidentifier) END` : 'NULL';
    case 'instant':
    case 'binary':
      return 'NULL';
  }
}

type Moment = Extract<ColumnType, { kind: 'date' | 'datetime' }>;

/** Casts a text to a date or time. A DATETIME counts 1/300 seconds, so a DATETIME2 would not equal its printed text. */
function momentOfText(sql: string, to: ColumnType, isSought: boolean): string {
  const moment = `TRY_CONVERT(${to.kind === 'date' ? 'date' : 'datetime2(7)'}, NULLIF(${sql}, ''))`;
  return isSought && to.kind === 'datetime' && to.name !== 'datetime2' ? held(moment, to.name) : moment;
}

/** Casts to the type of the compared column, so that its index serves; NULL for a value that the type cannot hold. */
function soughtMoment(sql: string, from: Moment, to: ColumnType): string {
  if (to.kind === 'date') return `CASE WHEN CAST(${sql} AS time(7)) = '00:00:00' THEN CAST(${sql} AS date) END`;
  if (to.kind !== 'datetime' || to.name === 'datetime2') return plainMoment(sql, from, to);
  return from.kind === 'date' ? `TRY_CAST(${sql} AS ${to.name})` : held(plainMoment(sql, from, to), to.name);
}

/** Casts a DATETIME2 to an older type; NULL if its value changes. */
function held(sql: string, name: 'datetime' | 'smalldatetime'): string {
  const moment = `TRY_CAST(${sql} AS ${name})`;
  return `CASE WHEN CAST(${moment} AS datetime2(3)) = ${sql} THEN ${moment} END`;
}

/** Casts to DATETIME2. Beside an older type a DATE would be converted to that, which fails before 1753 or 1900. */
function plainMoment(sql: string, from: Moment, to: ColumnType): string {
  if (to.kind === 'datetime' && to.name === 'datetime2' && (from.kind === 'date' || from.name !== 'datetime'))
    return sql;
  return `CAST(${sql} AS datetime2(${from.kind === 'date' ? 0 : from.fraction}))`;
}

/** Casts to an integer; checks the text first, because TRY_CAST reads an empty text and a lone sign as 0. */
export function castInteger(sql: string): string {
  const text = binary(`RTRIM(${sql})`);
  return `CASE WHEN ${text} LIKE '%[0-9]' AND ${text} NOT LIKE '%[^-0-9]%' THEN TRY_CAST(${sql} AS bigint) END`;
}

/**
 * Casts to a decimal. Checks the grammar `-?\d+(\.\d+)?` first, because TRY_CAST also accepts signs, blanks, and a
 * point at either end.
 */
export function castNumber(sql: string): string {
  const grammar = `n.t LIKE '%[0-9]' AND n.t NOT LIKE '%[^-0-9.]%' AND n.t NOT LIKE '.%' AND n.t NOT LIKE '-.%'`;
  const number = `CASE WHEN ${grammar} THEN TRY_CAST(n.t AS decimal(38,10)) END`;
  return `(SELECT ${number} FROM (SELECT ${binary(`TRIM(${BLANKS} FROM ${sql})`)} AS t) AS n)`;
}

const BINARY = 'COLLATE Latin1_General_BIN2';
/** A collation that ignores case and accents. */
export const FOLDED = 'COLLATE Latin1_General_100_CI_AI';
/** The characters that TRIM removes. */
export const BLANKS = 'CONCAT(CHAR(32), CHAR(9), CHAR(13), CHAR(10))';

/**
 * Adds the binary collation to a text. The last COLLATE counts, so it is never written twice.
 * https://learn.microsoft.com/sql/relational-databases/collations/collation-and-unicode-support
 */
export function binary(sql: string): string {
  return sql.endsWith(BINARY) ? sql : `${sql} ${BINARY}`;
}

export function asText(writer: Writer, of: Expression): string {
  return textForm(writer.expression(of), of.type);
}

export function trimmed(writer: Writer, of: Expression): string {
  const sql = asText(writer, of);
  return endsTrimmed(of) ? sql : `RTRIM(${sql})`;
}
