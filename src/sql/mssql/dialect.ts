/**
 * Implements the T-SQL dialect, for SQL Server 2017 and later (TRIM, STRING_SPLIT, JSON_VALUE; compatibility level
 * 130). A column's own collation usually ignores case, and its index is sorted by it. So an exact comparison is
 * combined with a plain one, which uses the index.
 * https://learn.microsoft.com/sql/relational-databases/collations/collation-and-unicode-support
 */

import { isOtherCollation } from '../column-type.ts';
import {
  bindText,
  constantText,
  type Dialect,
  endsTrimmed,
  jsonSeparator,
  literal,
  operand,
  type Writer,
} from '../dialect.ts';
import type { Expression, Predicate } from '../expression.ts';
import { bracketed } from '../identifier.ts';
import { asText, BLANKS, binary, cast, FOLDED, fetchForm, storedForm, textForm, trimmed } from './forms.ts';
import { call } from './functions.ts';

const EIGHT_DIGITS = `'${'[0-9]'.repeat(8)}'`;

export const MSSQL: Dialect = {
  engine: 'mssql',
  seeksApart: true,
  byRow: '',
  nulls: () => '',
  fragments: undefined,
  constantsOneByOne: 0,
  placeholder: position => `@p${position}`,
  literal: (value, type) => literal(value, type, type.kind === 'text' && type.unicode ? 'N' : ''),
  name: bracketed,
  table: ({ schema, name }) => (schema === undefined ? bracketed(name) : `${bracketed(schema)}.${bracketed(name)}`),
  column: (sql, type) =>
    type.kind === 'text' && type.lob ? `CAST(${sql} AS ${type.unicode ? 'n' : ''}varchar(max))` : sql,
  // Its types exclude values of other kinds.
  within: () => undefined,
  // sp_executesql takes 2,100, of which it uses two itself.
  parametersAtMost: 2098,
  top: limit => `TOP (${limit()}) `,
  tail: () => '',
  /** The server caches one plan for all limits, so the first limit must not determine it. */
  hint: limit => `\nOPTION (OPTIMIZE FOR (${limit} UNKNOWN))`,

  /** Selects columns by name: a login may not be allowed to read all columns, which `*` would need. */
  pick(writer, join, pick, columns) {
    const kind = join.kind === 'left' ? 'OUTER APPLY' : 'CROSS APPLY';
    const table = writer.table(join.table);
    const alias = writer.name(join.alias);
    const on = writer.predicate(join.on);
    const needed = columns().map(column => `${alias}.${writer.name(column)}`);
    const items = needed.length === 0 ? '1 AS one' : needed.join(', ');
    return `${kind} (SELECT TOP (1) ${items} FROM ${table} AS ${alias} WHERE ${on} ORDER BY ${writer.order(pick)}) AS ${alias}`;
  },

  exact: (sql, of) => (isFold(of) ? sql : binary(textForm(sql, of.type))),
  cast: (sql, ...types) => cast(sql(), ...types),
  /**
   * Casts Unicode beside a varchar column, which would otherwise be converted and lose its index. The exact comparison
   * excludes what this cast changes.
   */
  seekOperand(sql, from, to) {
    if (from.kind !== 'text' || to.kind !== 'text' || /^(?:@|N?')/.test(sql)) return sql;
    const narrow = from.unicode && !to.unicode ? `CAST(${sql} AS varchar(8000))` : sql;
    // Neither collation of two columns has precedence, so the server refuses to compare them (error 468).
    return isOtherCollation(from, to) ? `${narrow} COLLATE ${to.collation}` : narrow;
  },
  contains,
  containsSome: undefined,
  glob: (writer, of, pattern) => `${binary(trimmed(writer, of))} LIKE ${constantText(writer, likePattern(pattern))}`,
  packedDate,
  hasBytes: sql => `DATALENGTH(${sql()}) > 0`,
  call,

  pieces(writer, of, by) {
    const separator = separatorText(writer, by);
    const value = 'CAST(value AS nvarchar(max))';
    return `SELECT TRIM(${BLANKS} FROM ${value}) AS piece FROM STRING_SPLIT(${asText(writer, of)}, ${separator})`;
  },

  fetch: (writer, expression) => fetchForm(writer.expression(expression), expression.type),
  stored: (writer, expression) => storedForm(writer.expression(expression), expression.type),
};

function isFold(of: Expression): boolean {
  return of.kind === 'function' && (of.name === 'fold' || of.name === 'words');
}

function separatorText(writer: Writer, separator: string): string {
  jsonSeparator(separator, true);
  return writer.constant(separator, { kind: 'text', unicode: true, fixed: false, length: 1 });
}

function contains(writer: Writer, asked: Extract<Predicate, { kind: 'contains' }>, text: string): string {
  const { of, where } = asked;
  const sql = isFold(of) ? foldedTrimmed(writer, of) : binary(trimmed(writer, of));
  if (where === 'words') {
    const each = text.split(/(?= )/).map(word => contains(writer, { ...asked, where: 'anywhere' }, word));
    return `(${each.join(' AND ')})`;
  }
  if (where === 'whole') return `${sql} = ${bindText(writer, text)}`;
  const escaped = text.replace(/[%_[]/g, '[$&]');
  // Words are compared in this collation, so an index in it can seek the prefix.
  if (where === 'seek') return `${asText(writer, of)} ${FOLDED} LIKE ${bindText(writer, `${escaped}%`)}`;
  return `${sql} LIKE ${bindText(writer, `${where === 'start' ? '' : '%'}${escaped}${where === 'end' ? '' : '%'}`)}`;
}

function foldedTrimmed(writer: Writer, of: Expression): string {
  if (of.kind !== 'function' || endsTrimmed(of)) return writer.expression(of);
  return `${trimmed(writer, operand(of.args, 0))} ${FOLDED}`;
}

/** Translates a GLOB pattern into a LIKE pattern. Classes are the same in both; `%` and `_` are escaped. */
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
