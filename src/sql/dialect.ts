/**
 * The interface of SQL dialects: all that differs between engines, and what dialects share: literals of constants, and
 * fragments of SQL that are written once. src/sql/render.ts is the one compiler. A dialect's methods return SQL text
 * and bind parameters through the Writer, in the order of the text. docs/extending.md has what is asked of every
 * engine.
 */

import { type ColumnType, isTrimmed, UNICODE } from './column-type.ts';
import type { Expression, FunctionName, Join, Predicate, SqlValue } from './expression.ts';
import type { Identifier, TableName } from './identifier.ts';
import { looseType } from './parameter-type.ts';
import type { Parameter } from './plan.ts';

/** The compiler as a dialect sees it. Parameters are numbered as they are bound. */
export interface Writer {
  /** As the dialect quotes it. */
  readonly name: Dialect['name'];
  readonly table: Dialect['table'];
  expression(expression: Expression): string;
  predicate(predicate: Predicate): string;
  /** `expression DESC, …`, binary order for text. */
  order(join: NonNullable<Join['pick']>): string;
  /** Binds a value and returns its text in SQL. `placeholder`: where each use of the plan brings a value of its own. */
  bind(value: SqlValue, type: ColumnType, placeholder?: Parameter['placeholder']): string;
  /** What the mapping or a codec says: a literal, or a placeholder where it is none. */
  constant(value: SqlValue, type: ColumnType): string;
}

/** An end of what a column holds. */
export type Side = 'first' | 'last';

export interface Dialect {
  /** The name of its engine. */
  readonly engine: string;
  /**
   * Indexes are kept in another collation than the exact one: a plain comparison to seek stands beside the exact one.
   */
  readonly seeksApart: boolean;
  /** Parameters of one statement at most. */
  readonly parametersAtMost: number;
  /** Stands before an EXISTS that is tested row by row. */
  readonly byRow: '' | '+';
  /** What was written before; undefined where placeholders are numbered. */
  readonly fragments: Fragments | undefined;
  /** So many constants, of which a value is to be none, are compared one by one; more are a list. */
  readonly constantsOneByOne: number;
  /** `type`: that of the value, where the engine does not infer it. */
  placeholder(position: number, type: ColumnType): string;
  /** Stands behind a key of ORDER BY: NULL comes first ascending, and last descending. */
  nulls(descending: boolean): '' | ' NULLS FIRST' | ' NULLS LAST';
  /** A constant as SQL; undefined where it is bound. */
  literal(value: SqlValue, type: ColumnType): string | undefined;
  /** A name, quoted where it has to be. */
  name(name: Identifier): string;
  table(name: TableName): string;
  /** A column as an operand. */
  column(sql: string, type: ColumnType): string;
  /**
   * That a column of mixed rows, which stands as it is, is not before the first of its values, or not behind the last;
   * undefined where the engine has no such columns.
   */
  within(sql: string, type: ColumnType, side: Side): string | undefined;
  /** Stands after SELECT. */
  top(limit: () => string): string;
  /** Stands at the end. */
  tail(limit: () => string, gap: '\n' | ' '): string;
  /** Stands behind all else of a statement; `limit`: the parameter that says how many rows. */
  hint(limit: string): string;
  /** A join of the first row in an order; `columns` tells which of its columns the rest of the query refers to. */
  pick(writer: Writer, join: Join, pick: NonNullable<Join['pick']>, columns: () => readonly Identifier[]): string;
  /** Text for an exact comparison or order: binary, blind to trailing blanks. `sql` is what `of` was written as. */
  exact(sql: string, of: Expression): string;
  /**
   * `sql` (of type `from`) as an operand beside a column of another type `to`; NULL where it cannot be one. `isSought`:
   * the column is to be equal to it.
   */
  cast(sql: string, from: ColumnType, to: ColumnType, isSought?: boolean): string;
  /** The right operand of the plain comparison where `seeksApart`. */
  seekOperand(sql: string, from: ColumnType, to: ColumnType): string;
  /** The substring test for one of its texts. */
  contains(writer: Writer, predicate: Extract<Predicate, { kind: 'contains' }>, text: string): string;
  /** Likewise for several in one call; undefined: they are asked for one by one. */
  readonly containsSome: ((writer: Writer, predicate: Extract<Predicate, { kind: 'contains' }>) => string) | undefined;
  glob(writer: Writer, of: Expression, pattern: string): string;
  packedDate(writer: Writer, of: Expression): string;
  /** A binary column has at least one byte; NULL has none. */
  hasBytes(sql: string): string;
  call(writer: Writer, name: FunctionName, args: readonly (Expression | number)[]): string;
  /** A select with one column `piece`: the trimmed pieces of a text, none for NULL. */
  pieces(writer: Writer, of: Expression, by: string): string;
  /** An item of the outermost select list in the form of Row (plan.ts). */
  fetch(writer: Writer, expression: Expression): string;
  /** Likewise of a plan that is `stored`. */
  stored(writer: Writer, expression: Expression): string;
}

const TRIMMING = new Set<FunctionName>([
  'rtrim',
  'trim',
  'last-word',
  'first-word',
  'before-last-word',
  'number',
  'digits',
  'words',
]);

/** A column that holds no text with a blank at its end, and has a binary index. */
export function isTrimmedColumn(of: Expression): boolean {
  return of.kind === 'column' && isTrimmed(of.type);
}

/** Whether an expression cannot end in a blank, so that trimming it again would only cost. */
export function endsTrimmed(of: Expression): boolean {
  if (isTrimmedColumn(of)) return true;
  if (of.kind !== 'function') return of.type.kind !== 'text';
  const [first] = of.args;
  if (of.name === 'fold' || of.name === 'upper') return typeof first === 'object' && endsTrimmed(first);
  return TRIMMING.has(of.name) || of.type.kind !== 'text';
}

/** The argument of a function at a position. Throws a TypeError where a plan is malformed. */
export function operand(args: readonly (Expression | number)[], position: number): Expression {
  const found = args[position];
  if (typeof found !== 'object') throw new TypeError(`argument ${position + 1} has to be an expression`);
  return found;
}

/** Arguments two by two: an expression and a number. */
export function pairs(args: readonly (Expression | number)[]): readonly (readonly [Expression, number])[] {
  return Array.from({ length: args.length / 2 }, (_, i) => [operand(args, 2 * i), count(args, 2 * i + 1)]);
}

/** A position or length among the arguments, as SQL text. */
export function count(args: readonly (Expression | number)[], position: number): number {
  const found = args[position];
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 0) {
    throw new TypeError(`argument ${position + 1} has to be a whole number`);
  }
  return found;
}

/** A separator as it stands inside a JSON string: pieces are cut by making a JSON array of the text. */
export function jsonSeparator(separator: string, escapesSlash: boolean): string {
  if (separator.length !== 1 || /[A-Za-z0-9\s]/.test(separator)) {
    if (separator !== ' ') throw new TypeError('a separator is one character, neither letter nor digit');
  }
  const escaped = JSON.stringify(separator).slice(1, -1);
  return escapesSlash && separator === '/' ? '\\/' : escaped;
}

/**
 * The SQL of a text inside JSON, with each escaped backslash written as `\u005c`: a backslash before a quotation mark
 * is then always the one that escapes it. In: the SQL of the text as `json_quote` or STRING_ESCAPE gives it.
 */
export function unambiguousQuotes(escaped: string): string {
  return `REPLACE(${escaped}, '\\\\', '\\u005c')`;
}

/** The separator argument of `piece`, `before` and `after`. */
export function separatorOf(args: readonly (Expression | number)[]): string {
  const found = operand(args, 1);
  if (found.kind !== 'value' || typeof found.value !== 'string') throw new TypeError('a separator has to be a text');
  return found.value;
}

/** Printed alike in every code page, and legible. */
const PRINTABLE = /^[ -~]{0,200}$/;
const WHOLE = /^-?\d{1,15}$/;

/**
 * Writes a constant of a mapping or a codec, never a value of a request, as a literal, so that the engine can plan with
 * it; undefined if it is better bound. `prefix`: what stands before the quotes of a text.
 */
export function literal(value: SqlValue, type: ColumnType, prefix: string): string | undefined {
  if (value === null || value instanceof Uint8Array) return undefined;
  if (type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float')
    return WHOLE.test(String(value)) ? String(Number(value)) : undefined;
  if (type.kind !== 'text' || typeof value !== 'string' || !PRINTABLE.test(value)) return undefined;
  return `${prefix}'${value.replaceAll("'", "''")}'`;
}

interface Fragment {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

export type Fragments = WeakMap<Expression | Predicate, Fragment>;

/**
 * Characters of a fragment that is kept. A longer one is a list of the codes of a large code map, or has one in it, and
 * each mapping that uses the map would keep its own.
 */
const FRAGMENT = 4000;

/**
 * Writes SQL of a part that recurs in many statements (presence of a mapping, flags, sub-selects) once for the lifetime
 * of the part, which is immutable; its parameters are bound each time. Only for engines with positional placeholders.
 * `bound`: the parameters of the statement so far, in their order.
 */
export function writtenOnce(
  part: Expression | Predicate,
  kept: Fragments,
  bound: Parameter[],
  write: () => string,
): string {
  const known = kept.get(part);
  if (known) {
    for (const parameter of known.parameters) bound.push({ ...parameter, name: `p${bound.length}` });
    return known.text;
  }
  const before = bound.length;
  const text = write();
  if (text.length <= FRAGMENT) kept.set(part, { text, parameters: bound.slice(before) });
  return text;
}

/** Binds a text that is compared with texts of any kind. */
export function bindText(writer: Writer, text: string): string {
  return writer.bind(text, looseType(text, UNICODE));
}

/** Likewise a text that the mapping or a codec says. */
export function constantText(writer: Writer, text: string): string {
  return writer.constant(text, looseType(text, UNICODE));
}
