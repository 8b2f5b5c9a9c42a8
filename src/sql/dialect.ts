/**
 * Defines the interface of SQL dialects, that is, all that differs between engines, and the parts that they share:
 * literals of constants, and cached fragments of SQL. src/sql/render.ts is the one compiler. A dialect's methods return
 * SQL text and bind parameters through the Writer, in the order of the text. docs/extending.md lists the requirements
 * on an engine.
 */

import { type ColumnType, isTrimmed, UNICODE } from './column-type.ts';
import type { Expression, FunctionName, Join, Predicate, SqlValue } from './expression.ts';
import type { Identifier, TableName } from './identifier.ts';
import { looseType } from './parameter-type.ts';
import type { Parameter } from './plan.ts';

/** The compiler as a dialect sees it. Parameters are numbered in the order in which they are bound. */
export interface Writer {
  /** Quotes a name as the dialect does. */
  readonly name: Dialect['name'];
  readonly table: Dialect['table'];
  expression(expression: Expression): string;
  predicate(predicate: Predicate): string;
  /** `expression DESC, …`, with binary order for text. */
  order(join: NonNullable<Join['pick']>): string;
  /** Binds a value and returns its text in SQL. `placeholder`: set if each use of the plan supplies its own value. */
  bind(value: SqlValue, type: ColumnType, placeholder?: Parameter['placeholder']): string;
  /** Returns a value of a mapping or a codec as a literal, or binds it if it cannot be one. */
  constant(value: SqlValue, type: ColumnType): string;
}

/** The first or the last value of a column. */
export type Side = 'first' | 'last';

export interface Dialect {
  /** The name of the engine. */
  readonly engine: string;
  /**
   * True if indexes have another collation than exact comparisons: a plain comparison for seeking is added to the exact
   * one.
   */
  readonly seeksApart: boolean;
  /** Limit of parameters of one statement. */
  readonly parametersAtMost: number;
  /** Prefix of an EXISTS that is tested row by row. */
  readonly byRow: '' | '+';
  /** Cache of fragments; undefined if placeholders are numbered. */
  readonly fragments: Fragments | undefined;
  /** Up to this many constants, `NOT IN` becomes single comparisons; more become a list. */
  readonly constantsOneByOne: number;
  /** `type`: the value's type, if the engine does not infer it. */
  placeholder(position: number, type: ColumnType): string;
  /** Suffix of a key in ORDER BY: NULL comes first ascending, and last descending. */
  nulls(descending: boolean): '' | ' NULLS FIRST' | ' NULLS LAST';
  /** Returns a constant as SQL; undefined if it must be bound. */
  literal(value: SqlValue, type: ColumnType): string | undefined;
  /** Returns a name, quoted if necessary. */
  name(name: Identifier): string;
  table(name: TableName): string;
  /** Returns a column as an operand. */
  column(sql: string, type: ColumnType): string;
  /**
   * Returns the condition that a column of mixed rows is not before its first proper value, or not after its last;
   * undefined if the engine has no such columns.
   */
  within(sql: string, type: ColumnType, side: Side): string | undefined;
  /** Returns the text after SELECT. */
  top(limit: () => string): string;
  /** Returns the text after ORDER BY. */
  tail(limit: () => string, gap: '\n' | ' '): string;
  /** Returns the text at the very end of a statement; `limit`: the parameter with the number of rows. */
  hint(limit: string): string;
  /** Returns a join of the first row in an order; `columns` returns those of its columns that the query refers to. */
  pick(writer: Writer, join: Join, pick: NonNullable<Join['pick']>, columns: () => readonly Identifier[]): string;
  /** Returns text for an exact comparison or order: binary, ignoring trailing blanks. `sql` is the SQL of `of`. */
  exact(sql: string, of: Expression): string;
  /**
   * Returns an operand (of type `from`) beside a column of another type `to`; NULL if it cannot be converted. `sql`
   * writes the operand, once for each occurrence, because each needs its own positional parameters. `isSought`: the
   * column is compared for equality.
   */
  cast(sql: () => string, from: ColumnType, to: ColumnType, isSought?: boolean): string;
  /** Returns the right operand of the plain comparison if `seeksApart`. */
  seekOperand(sql: string, from: ColumnType, to: ColumnType): string;
  /** Returns the substring test for one of its texts. */
  contains(writer: Writer, predicate: Extract<Predicate, { kind: 'contains' }>, text: string): string;
  /** Likewise for several texts in one call; undefined if they are tested one by one. */
  readonly containsSome: ((writer: Writer, predicate: Extract<Predicate, { kind: 'contains' }>) => string) | undefined;
  glob(writer: Writer, of: Expression, pattern: string): string;
  packedDate(writer: Writer, of: Expression): string;
  /** True if a binary value has at least one byte; NULL has none. `sql` as in `cast`. */
  hasBytes(sql: () => string): string;
  call(writer: Writer, name: FunctionName, args: readonly (Expression | number)[]): string;
  /** Returns a select with one column `piece`: the trimmed pieces of a text, none for NULL. */
  pieces(writer: Writer, of: Expression, by: string): string;
  /** Returns an item of the outermost select list, in the form of Row (plan.ts). */
  fetch(writer: Writer, expression: Expression): string;
  /** Likewise for a plan that is `stored`. */
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

/** True for a column of texts without blanks at the end, which has a binary index. */
export function isTrimmedColumn(of: Expression): boolean {
  return of.kind === 'column' && isTrimmed(of.type);
}

/** True if an expression cannot end in a blank, so that trimming it again would be wasted. */
export function endsTrimmed(of: Expression): boolean {
  if (isTrimmedColumn(of)) return true;
  if (of.kind !== 'function') return of.type.kind !== 'text';
  const [first] = of.args;
  if (of.name === 'fold' || of.name === 'upper') return typeof first === 'object' && endsTrimmed(first);
  return TRIMMING.has(of.name) || of.type.kind !== 'text';
}

/** Returns the argument of a function at a position. Throws a TypeError if the plan is malformed. */
export function operand(args: readonly (Expression | number)[], position: number): Expression {
  const found = args[position];
  if (typeof found !== 'object') throw new TypeError(`argument ${position + 1} has to be an expression`);
  return found;
}

/** Returns the arguments in pairs of an expression and a number. */
export function pairs(args: readonly (Expression | number)[]): readonly (readonly [Expression, number])[] {
  return Array.from({ length: args.length / 2 }, (_, i) => [operand(args, 2 * i), count(args, 2 * i + 1)]);
}

/** Returns a position or length among the arguments. Throws a TypeError if it is no whole number. */
export function count(args: readonly (Expression | number)[], position: number): number {
  const found = args[position];
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 0) {
    throw new TypeError(`argument ${position + 1} has to be a whole number`);
  }
  return found;
}

/** Escapes a separator as inside a JSON string: pieces are cut by turning the text into a JSON array. */
export function jsonSeparator(separator: string, escapesSlash: boolean): string {
  if (separator.length !== 1 || /[A-Za-z0-9]/.test(separator))
    throw new TypeError('a separator is one character, neither letter nor digit');
  const escaped = JSON.stringify(separator).slice(1, -1);
  return escapesSlash && separator === '/' ? '\\/' : escaped;
}

/**
 * Replaces each escaped backslash in the SQL of a text inside JSON by `\u005c`: a backslash before a quotation mark
 * then always escapes that mark. In: the SQL of the text as `json_quote` or STRING_ESCAPE gives it.
 */
export function unambiguousQuotes(escaped: string): string {
  return `REPLACE(${escaped}, '\\\\', '\\u005c')`;
}

/** Returns the separator argument of `piece`, `before` and `after`. */
export function separatorOf(args: readonly (Expression | number)[]): string {
  const found = operand(args, 1);
  if (found.kind !== 'value' || typeof found.value !== 'string') throw new TypeError('a separator has to be a text');
  return found.value;
}

/** Characters that are legible and equal in every code page. */
const PRINTABLE = /^[ -~]{0,200}$/;
const WHOLE = /^-?\d{1,15}$/;

/**
 * Writes a constant of a mapping or a codec, never a value of a request, as a literal, so that the engine can plan with
 * it; undefined if it is better bound. `prefix`: the text before the quotes.
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
 * Limit of characters of a cached fragment. A longer one contains the codes of a large code map, and each mapping with
 * that map would cache its own.
 */
const FRAGMENT = 4000;

/**
 * Caches the SQL of a part that recurs in many statements (presence of a mapping, flags, sub-selects) as long as the
 * part, which is immutable, exists; binds its parameters each time. Only for engines with positional placeholders.
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

/** Likewise for a text of a mapping or a codec. */
export function constantText(writer: Writer, text: string): string {
  return writer.constant(text, looseType(text, UNICODE));
}
