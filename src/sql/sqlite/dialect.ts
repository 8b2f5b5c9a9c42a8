/**
 * Implements the SQL dialect of SQLite. Text is compared by the collation RTRIM (binary, ignoring trailing blanks); an
 * index serves such a comparison if its column was declared COLLATE RTRIM. A column with a binary index and no blanks
 * at the end of its texts is compared by BINARY, with the same result, because blanks are trimmed from its operands.
 * Functions that begin with `lintel_` are the adapter's own (functions.ts).
 * https://sqlite.org/datatype3.html#collating_sequences https://sqlite.org/lang_expr.html
 */

import {
  BYTES,
  type ColumnType,
  holdsAnyNumber,
  isLoose,
  isMixed,
  isMixedTime,
  isSmallUuid,
  utcLayoutOf,
} from '../column-type.ts';
import {
  bindText,
  constantText,
  count,
  type Dialect,
  endsTrimmed,
  isTrimmedColumn,
  jsonSeparator,
  literal,
  operand,
  pairs,
  separatorOf,
  unambiguousQuotes,
  type Writer,
} from '../dialect.ts';
import type { Expression, FunctionName, Predicate } from '../expression.ts';
import { bracketed, type Identifier } from '../identifier.ts';
import { familyOf } from '../parameter-type.ts';
import { AS_IT_IS } from '../shared-functions.ts';
import { valuesOf } from './apart.ts';

const BLANKS = 'char(32, 9, 13, 10)';
const EIGHT_DIGITS = `'${'[0-9]'.repeat(8)}'`;

export const SQLITE: Dialect = {
  engine: 'sqlite',
  seeksApart: false,
  // SQLite turns a bare EXISTS into a join, with a filter over its whole table that it builds for each statement.
  // https://sqlite.org/optoverview.html#the_exists_to_join_optimization
  byRow: '+',
  nulls: () => '',
  fragments: new WeakMap(),
  // For a list of three or more, each run of a statement builds a temporary table with a b-tree and a pager of its own.
  constantsOneByOne: 8,
  placeholder: () => '?',
  literal: (value, type) => literal(value, type, ''),
  /** SQLite has no schemas: a schema in a mapping is for SQL Server. */
  name: bracketed,
  table: table => bracketed(table.name),
  column: canonical,
  // The query planner assumes that any range selects few rows, but most rows have a value: it would sort them all for a
  // page.
  // https://sqlite.org/lang_corefunc.html#likely
  within: (sql, type, side) => `likely(${sql} ${valuesOf(type)[side]})`,
  // https://sqlite.org/limits.html#max_variable_number
  parametersAtMost: 32_766,
  top: () => '',
  tail(limit, gap) {
    const rows = limit();
    // A bare parameter would be part of the query plan, so SQLite would prepare the statement again on each binding.
    return `${gap}LIMIT ${rows === '?' ? '+?' : rows}`;
  },
  hint: () => '',

  pick: picked(() => true),

  exact: (sql, of) => `${sql} COLLATE ${isTrimmedColumn(of) ? 'BINARY' : 'RTRIM'}`,
  cast,
  seekOperand: sql => sql,
  contains,
  containsSome,
  glob: (writer, of, pattern) => `${trimmed(writer, of)} GLOB ${constantText(writer, pattern)}`,
  packedDate,
  /** SQLite lets a column of bytes hold text and numbers, too. A blank text is no file, as in a column of text. */
  hasBytes: x => `length(CASE typeof(${x()}) WHEN 'blob' THEN ${x()} WHEN 'text' THEN rtrim(${x()}) END) > 0`,
  call,

  pieces(writer, of, by) {
    return `SELECT trim(value, ${BLANKS}) AS piece FROM json_each(${jsonArray(writer, of, by)})`;
  },

  /** JavaScript's numbers are exact up to 2^53, so larger integers arrive as text; a REAL arrives unchanged. */
  stored(writer, expression) {
    // Another type would convert the value, as for rows that are read normally.
    const isFormed = expression.kind === 'column' || expression.kind === 'raw';
    if (expression.type.kind === 'binary') return withoutIntegers(() => writer.expression(expression));
    const x = () => writer.expression(isFormed ? { ...expression, type: BYTES } : expression);
    return `CASE WHEN typeof(${x()}) = 'integer' AND abs(${x()} / 2) > 4503599627370495 THEN CAST(${x()} AS TEXT) ELSE ${x()} END`;
  },

  /**
   * Returns a select item. witness.ts later prints decimals, instants in UTC and UUIDs in lower case, and drops values
   * of a mixed column that are no date. In a column of any numbers, a value that is no number arrives as an empty text.
   */
  fetch(writer, expression) {
    const { type } = expression;
    const sql = () => writer.expression(expression);
    if (expression.kind === 'column' && (utcLayoutOf(type) || isMixedTime(type)))
      return withoutIntegers(() => writer.expression({ ...expression, type: BYTES }));
    if (holdsAnyNumber(type)) {
      const printed = digitsText(sql(), type);
      const isOpen = expression.kind === 'column' && !isMixed(type);
      return isOpen ? `coalesce(${printed}, CASE WHEN ${sql()} IS NOT NULL THEN '' END)` : printed;
    }
    if (type.kind === 'binary') return withoutIntegers(sql);
    return type.kind === 'integer' && type.bits === 64 ? `CAST(${sql()} AS TEXT)` : sql();
  },
};

/** Leaves out integers, which are no bytes and no date: Node refuses to read those above 2^53. */
function withoutIntegers(x: () => string): string {
  return `CASE WHEN typeof(${x()}) <> 'integer' THEN ${x()} END`;
}

/** Returns the one text or number for a column whose rows are written in several ways, or NULL (functions.ts). */
function canonical(sql: string, type: ColumnType): string {
  if (isMixed(type)) {
    const { first, last } = valuesOf(type);
    return `CASE WHEN ${sql} ${first} AND ${sql} ${last} THEN ${sql} END`;
  }
  // Bytes are no text.
  if (isLoose(type)) return `CASE WHEN typeof(${sql}) <> 'blob' THEN CAST(${sql} AS TEXT) END`;
  if (type.kind === 'uuid' && type.letters === 'any') return `lintel_uuid(${sql})`;
  if (!('form' in type) || type.form?.kind !== 'any') return sql;
  switch (type.kind) {
    case 'date':
      return `lintel_day(${sql})`;
    case 'datetime':
      return `lintel_moment(${sql}, '${type.form.zone.replaceAll("'", "''")}')`;
    case 'time':
      return `lintel_time(${sql})`;
  }
}

/** Prints a number in JavaScript: SQLite prints only 15 digits of a double, JavaScript as many as identify it. */
function digitsText(sql: string, type: ColumnType): string {
  return type.kind === 'decimal' ? `lintel_printed(${sql}, ${type.scale})` : `lintel_printed(${sql}, NULL)`;
}

function asText(writer: Writer, of: Expression): string {
  if (of.type.kind === 'decimal' && !holdsAnyNumber(of.type)) return decimalText(writer, of, of.type.scale);
  const sql = writer.expression(of);
  if (isSmallUuid(of.type)) return `upper(${sql})`;
  if (of.type.kind === 'float' || holdsAnyNumber(of.type)) return digitsText(sql, of.type);
  return familyOf(of.type) === 'number' ? `CAST(${sql} AS TEXT)` : sql;
}

/** Prints a decimal with the digits of its declared scale, because SQLite stores decimals as binary floats. */
function decimalText(writer: Writer, of: Expression, scale: number): string {
  const test = writer.expression(of);
  return `CASE WHEN ${test} IS NOT NULL THEN printf('%.${scale}f', ${writer.expression(of)}) END`;
}

function trimmed(writer: Writer, of: Expression): string {
  return endsTrimmed(of) ? asText(writer, of) : `rtrim(${writer.expression(of)})`;
}

function cast(x: () => string, from: ColumnType, to: ColumnType): string {
  switch (familyOf(to)) {
    case 'text':
      if (from.kind === 'float' || holdsAnyNumber(from)) return digitsText(x(), from);
      if (from.kind === 'decimal') return `CASE WHEN ${x()} IS NOT NULL THEN printf('%.${from.scale}f', ${x()}) END`;
      return `CAST(${x()} AS TEXT)`;
    case 'number':
      if (familyOf(from) !== 'text') return 'NULL';
      if (to.kind !== 'integer') return `lintel_number(${x()})`;
      return `CASE WHEN ltrim(rtrim(${x()}), '-') NOT GLOB '*[^0-9]*' AND rtrim(${x()}) GLOB '*[0-9]' AND ${x()} NOT GLOB '--*' THEN CAST(${x()} AS INTEGER) END`;
    case 'uuid':
      if (from.kind !== 'text' && from.kind !== 'uuid') return 'NULL';
      return `${isSmallUuid(to) ? 'lower' : 'upper'}(${x()})`;
    case 'moment':
      if (familyOf(from) === 'text') return x();
      if (familyOf(from) !== 'moment') return 'NULL';
      if (from.kind === 'datetime' && to.kind === 'datetime') return withFraction(x(), from.fraction, to.fraction);
      return to.kind === 'datetime' ? `${x()} || '${midnight(to.fraction)}'` : `substr(${x()}, 1, 10)`;
    default:
      return familyOf(from) === 'text' ? x() : 'NULL';
  }
}

/** Adds or removes digits of a second in a text. */
function withFraction(sql: string, from: number, to: number): string {
  if (to <= from) return to === 0 ? `substr(${sql}, 1, 19)` : `substr(${sql}, 1, ${20 + to})`;
  return `${sql} || '${from === 0 ? '.' : ''}${'0'.repeat(to - from)}'`;
}

function midnight(fraction: number): string {
  return fraction === 0 ? ' 00:00:00' : ` 00:00:00.${'0'.repeat(fraction)}`;
}

/** Writes a substring test with instr and substr, which respect case and have no wildcards; LIKE ignores case. */
function contains(writer: Writer, asked: Extract<Predicate, { kind: 'contains' }>, text: string): string {
  const { of, where } = asked;
  const x = () => trimmed(writer, of);
  switch (where) {
    case 'anywhere':
      return `instr(${x()}, ${bindText(writer, text)}) > 0`;
    case 'start':
      return `substr(${x()}, 1, length(${bindText(writer, text)})) = ${bindText(writer, text)}`;
    case 'end':
      return `${x()} GLOB ${bindText(writer, `*${text.replace(/[*?[]/g, '[$&]')}`)}`;
    case 'whole':
      return `${x()} = ${bindText(writer, text)}`;
    case 'words':
      return containsSome(writer, { ...asked, texts: [text] });
    case 'seek': {
      // In the column's own collation: no index serves an operand with COLLATE inside an OR.
      const from = `${writer.expression(of)} >= ${bindText(writer, text)}`;
      const to = behind(text);
      return to === undefined ? from : `(${from} AND ${writer.expression(of)} < ${bindText(writer, to)})`;
    }
  }
}

/**
 * Returns the least text, in the order of code points, after all that begin with this one; undefined if there is none.
 */
function behind(text: string): string | undefined {
  const points = [...text];
  const last = points.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  if (last === 0x10ffff) return behind(points.join(''));
  // Skips surrogates, which are no characters.
  return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
}

/** Binds all texts as one JSON text: one call compares them, and the statement is the same for any number of texts. */
function containsSome(writer: Writer, { of, where, texts }: Extract<Predicate, { kind: 'contains' }>): string {
  return `lintel_contains(${trimmed(writer, of)}, '${where}', ${bindText(writer, JSON.stringify(texts))})`;
}

/** Tests for a packed date. strftime turns 30 February into a day of March, so its result must equal the input. */
function packedDate(writer: Writer, of: Expression): string {
  if (of.type.kind === 'integer') return packedInteger(() => writer.expression(of));
  const x = () => trimmed(writer, of);
  return [
    `(${x()} GLOB ${EIGHT_DIGITS} AND ${x()} >= '0001' AND (substr(${x()}, 5, 4) = '0000'`,
    `substr(${x()}, 7, 2) = '00' AND substr(${x()}, 5, 2) BETWEEN '01' AND '12'`,
    `strftime('%Y%m%d', substr(${x()}, 1, 4) || '-' || substr(${x()}, 5, 2) || '-' || substr(${x()}, 7, 2)) = ${x()}))`,
  ].join(' OR ');
}

function packedInteger(x: () => string): string {
  return [
    `(${x()} BETWEEN 10000 AND 99991231 AND (${x()} % 10000 = 0`,
    `${x()} % 100 = 0 AND ${x()} / 100 % 100 BETWEEN 1 AND 12`,
    `strftime('%Y%m%d', printf('%04d-%02d-%02d', ${x()} / 10000, ${x()} / 100 % 100, ${x()} % 100)) = printf('%08d', ${x()})))`,
  ].join(' OR ');
}

/**
 * Returns the text as a JSON array of its pieces, NULL for NULL. json_quote escapes the text first, so any content
 * works.
 */
function jsonArray(writer: Writer, of: Expression, by: string): string {
  const escaped = `nullif(json_quote(${asText(writer, of)}), 'null')`;
  const quoted = by === '"' ? unambiguousQuotes(escaped) : escaped;
  return `'[' || replace(${quoted}, ${constantText(writer, jsonSeparator(by, false))}, '","') || ']'`;
}

function call(writer: Writer, name: FunctionName, args: readonly (Expression | number)[]): string {
  const first = operand(args, 0);
  const x = () => asText(writer, first);
  const word = () => trimmed(writer, first);
  switch (name) {
    case 'rtrim':
      return `rtrim(${x()})`;
    case 'trim':
      return `trim(${x()}, ${BLANKS})`;
    case 'upper':
      return `upper(${x()})`;
    case 'fold':
      return `lintel_fold(${x()})`;
    case 'words':
      return `lintel_words(${x()})`;
    case 'digits':
      return `lintel_digits(${x()})`;
    case 'replace':
      return `replace(${x()}, ${writer.expression(operand(args, 1))}, ${writer.expression(operand(args, 2))})`;
    case 'piece':
      return `json_extract(${jsonArray(writer, first, separatorOf(args))}, '$[${position(args, 2) - 1}]')`;
    case 'before':
      return `substr(${x()}, 1, ${place(writer, x(), args)} - 1)`;
    case 'after':
      return `substr(${x()}, ${place(writer, x(), args)} + ${[...separatorOf(args)].length})`;
    case 'first-word':
      return `substr(${word()}, 1, instr(${word()} || ' ', ' ') - 1)`;
    case 'after-first-word':
      return `ltrim(substr(${word()}, nullif(instr(${word()}, ' '), 0)))`;
    // rtrim with all characters of the text except the blank leaves the text up to the last blank.
    case 'last-word':
      return `substr(${word()}, length(rtrim(${word()}, replace(${word()}, ' ', ''))) + 1)`;
    case 'before-last-word':
      return `nullif(rtrim(rtrim(${word()}, replace(${word()}, ' ', ''))), '')`;
    case 'number':
      return `lintel_number(${writer.expression(first)})`;
    case 'whole': {
      const number = () => writer.expression(first);
      if (first.type.kind === 'integer' && !holdsAnyNumber(first.type)) return number();
      return `CASE WHEN ${number()} = CAST(${number()} AS INTEGER) THEN CAST(${number()} AS INTEGER) END`;
    }
    case 'instant':
      return `lintel_instant(${writer.expression(first)}, ${writer.expression(operand(args, 1))})`;
    case 'scaled':
      return `lintel_scaled(${writer.expression(first)}, ${count(args, 1)})`;
    case 'time-of-day':
      // Works for every form: texts of times compare as times do, wherever they are cut.
      return `substr(${x()}, 12)`;
    case 'text':
      return x();
    case 'uuid':
      if (first.type.kind !== 'binary') return `lower(${x()})`;
      // Columns store values of any kind and length.
      return `CASE WHEN typeof(${x()}) = 'blob' AND length(${x()}) = 16 THEN lower(${hyphened(() => `hex(${x()})`)}) END`;
    case 'concat':
      return `(${args.map((_, i) => asText(writer, operand(args, i))).join(' || ')})`;
    case 'id-length':
      return `(${pairs(args)
        .map(([of, how]) => lengthInId(() => asText(writer, of), how))
        .join(' + ')})`;
    case 'substring':
      return `substr(${x()}, ${position(args, 1)}, ${count(args, 2)})`;
    case 'unescaped':
      return `lintel_unescaped(${x()})`;
    case 'ymd': {
      const part = (at: number): string => {
        const of = operand(args, at);
        const sql = writer.expression(of);
        return of.type.kind === 'text' ? `CAST(lintel_number(${sql}) AS INTEGER)` : sql;
      };
      return `(${part(0)} * 10000 + ${part(1)} * 100 + ${part(2)})`;
    }
    case 'written':
      return `lintel_written(${x()}, ${writer.expression(operand(args, 1))}, ${count(args, 2)})`;
    case 'iso':
      return `lintel_iso(${x()})`;
    case 'dtm':
      return `lintel_dtm(${x()}, ${writer.expression(operand(args, 1))})`;
    case 'dtm-key':
      return `lintel_dtm_key(${x()}, ${writer.expression(operand(args, 1))}, ${writer.expression(operand(args, 2))})`;
    case 'clock-key':
      return `lintel_clock_key(${x()}, ${writer.expression(operand(args, 1))}, ${writer.expression(operand(args, 2))})`;
  }
}

/** Calls our function only for keys in which something may be escaped. */
function lengthInId(x: () => string, how: number): string {
  const asItIs = () => `length(rtrim(${x()}))`;
  if (how === AS_IT_IS) return asItIs();
  return `CASE WHEN ${x()} GLOB '*[^A-Za-z0-9]*' THEN lintel_id_length(${x()}, ${how}) ELSE ${asItIs()} END`;
}

/** Writes 32 hexadecimal digits in the groups of a UUID. */
function hyphened(hex: () => string): string {
  const groups = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ].map(([from, length]) => `substr(${hex()}, ${from}, ${length})`);
  return groups.join(` || '-' || `);
}

/** Returns the position of the separator, NULL if it does not occur. */
function place(writer: Writer, sql: string, args: readonly (Expression | number)[]): string {
  return `nullif(instr(${sql}, ${constantText(writer, separatorOf(args))}), 0)`;
}

function position(args: readonly (Expression | number)[], at: number): number {
  const found = count(args, at);
  if (found < 1) throw new TypeError('positions count from 1');
  return found;
}

/** Returns the dialect for one file. Rows of views and of tables WITHOUT ROWID have no rowid to join one of them by. */
export function sqliteOf(hasRowids: (table: string) => boolean): Dialect {
  return { ...SQLITE, fragments: new WeakMap(), pick: picked(hasRowids) };
}

/**
 * Joins the first of several rows. Inside the parentheses the alias means the candidate row, outside the picked row. A
 * row without a rowid is identified by the columns that the statement reads; each statement reads its table once for
 * that.
 */
function picked(hasRowids: (table: string) => boolean): Dialect['pick'] {
  return (writer, join, pick, columns) => {
    const kind = join.kind === 'left' ? 'LEFT JOIN' : 'JOIN';
    const table = writer.table(join.table);
    const alias = writer.name(join.alias);
    const first = (what: string): string =>
      `(SELECT ${what} FROM ${table} AS ${alias} WHERE ${writer.predicate(join.on)} ORDER BY ${writer.order(pick)} LIMIT 1)`;
    if (hasRowids(join.table.name))
      return `${kind} ${table} AS ${alias} ON ${alias}.rowid = ${first(`${alias}.rowid`)}`;
    const own = columns().map(column => writer.name(column));
    // Distinguishes a row of NULLs from no row.
    const number = nameBeside(columns());
    const read = [...own.map(name => `${alias}.${name} COLLATE BINARY`), '1'];
    const names = [...own, number];
    const rows = `(SELECT DISTINCT ${read.map((of, i) => `${of} AS ${names[i]}`).join(', ')} FROM ${table} AS ${alias})`;
    const joined = names.map(name => `${alias}.${name}`).join(', ');
    return `${kind} ${rows} AS ${alias} ON (${joined}) IS ${first(read.join(', '))}`;
  };
}

/** Returns a name that none of the columns has. */
function nameBeside(columns: readonly Identifier[]): string {
  const taken = new Set(columns.map(column => column.toLowerCase()));
  let name = 'found';
  while (taken.has(name)) name += '_';
  return name;
}
