/**
 * Renders predicates. In: a Predicate. Out: SQL that is TRUE exactly if the predicate holds; for `not`, TRUE exactly if
 * it does not, NULL included. FALSE and UNKNOWN count as the same: SQL text is negated only in CASE, which treats
 * UNKNOWN as FALSE.
 */
import { asItStands, type ColumnType, isMixed, isOtherCollation, isSmallUuid } from './column-type.ts';
import { type Dialect, endsTrimmed, isTrimmedColumn, type Side, type Writer } from './dialect.ts';
import type { ColumnExpression, Expression, Operator, Predicate, Relation } from './expression.ts';
import { expressionKey } from './expression-key.ts';
import type { padded } from './padded.ts';
import { familyOf, looseType, parameterFor } from './parameter-type.ts';

interface Parts {
  readonly expression: (expression: Expression) => string;
  readonly raw: (parts: readonly (string | Expression)[]) => string;
  /** `outside`: the expressions that are selected from it. */
  readonly relation: (relation: Relation, gap: '\n' | ' ', outside?: readonly Expression[]) => string;
  /** Returns only the joins of a relation, each after a blank. */
  readonly joins: (relation: Relation) => string;
  readonly bind: Writer['bind'];
  readonly constant: Writer['constant'];
  /** Pads lists of parameters. */
  readonly lengthen: typeof padded;
  readonly once: (part: Predicate, write: () => string) => string;
  readonly self: () => Writer;
}

type Leaf<K extends Predicate['kind']> = Extract<Predicate, { kind: K }>;

/**
 * Keys of expressions that the surrounding conjunction limits to digits, and of columns of mixed rows that it limits at
 * one end of their values (`endKey`).
 */
export type Digits = ReadonlySet<string>;

const OPPOSITE: Readonly<Record<Operator, Operator>> = {
  '=': '<>',
  '<>': '=',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
};
export const NO_DIGITS: Digits = new Set();
/** Kinds of predicates whose text is worth caching. */
const COMPOUND: ReadonlySet<Predicate['kind']> = new Set(['or', 'exists', 'some-piece', 'in', 'in-selects']);
/** As many as `valueShape` takes for digits (statement.ts). */
const ALL_DIGITS = /^\d{1,18}$/;
const DIGIT_GLOB = /^(?:\d|\[\d(?:-?\d)*\])+$/;

export function createPredicates(dialect: Dialect, parts: Parts): { predicate(predicate: Predicate): string } {
  const { expression } = parts;

  /** Returns the right operand of a comparison with `left`. */
  const right = (left: ColumnType, of: Expression, op: Operator = '='): string => {
    if (of.kind === 'value') {
      const { value, type } = parameterFor(of.value, of.type, left);
      if (of.constant) return parts.constant(value, type);
      const placeholder =
        of.placeholder === undefined ? undefined : { at: of.placeholder, type: of.type, against: left };
      return parts.bind(value, type, placeholder);
    }
    const sql = () => expression(of);
    return needsCast(of.type, left) ? dialect.cast(sql, of.type, left, op === '=' || op === '<>') : sql();
  };

  /**
   * Returns the column unchanged if it is compared with values only, so that its index serves: no text or BLOB equals a
   * number.
   */
  const bare = (of: Expression, others: readonly Expression[]): Expression =>
    of.kind === 'column' && others.every(other => other.kind === 'value') ? { ...of, type: asItStands(of.type) } : of;

  /**
   * Compares the unchanged column and limits it at the end that the comparison leaves open: in SQLite's order the rows
   * without a proper value come before or after all values.
   */
  const ranged = (left: ColumnExpression, op: Operator, of: Expression, known: Digits): string => {
    const sql = expression({ ...left, type: asItStands(left.type) });
    const said = `${sql} ${op} ${right(left.type, of, op)}`;
    const open = op.startsWith('<') ? 'first' : 'last';
    const end = known.has(endKey(left, open)) ? undefined : dialect.within(sql, left.type, open);
    return end === undefined ? said : `(${said} AND ${end})`;
  };

  /** True if the column has a value. */
  const given = (of: ColumnExpression, known: Digits): string => {
    const sql = expression({ ...of, type: asItStands(of.type) });
    const ends = ENDS.flatMap(end => (known.has(endKey(of, end)) ? [] : (dialect.within(sql, of.type, end) ?? [])));
    return ends.length > 1 ? `(${ends.join(' AND ')})` : (ends[0] ?? `${sql} IS NOT NULL`);
  };

  const exact = (of: Expression, sql = expression(of)): string =>
    of.type.kind === 'text' ? dialect.exact(sql, of) : sql;

  /** Returns ` OR x IS NULL` for each operand that can be NULL. */
  const orNull = (...operands: readonly Expression[]): string =>
    operands
      .filter(of => of.kind !== 'value' && of.kind !== 'flag')
      .map(of => ` OR ${right(of.type, of)} IS NULL`)
      .join('');

  /** Likewise; an operand that could not be cast counts as NULL. */
  const orCastNull = (left: Expression, op: Operator, of: Expression): string => {
    if (of.kind === 'value' || of.kind === 'flag') return orNull(left);
    return `${orNull(left)} OR ${right(left.type, of, op)} IS NULL`;
  };

  const compared = (left: Expression, op: Operator, of: Expression, negated: boolean, digits: Digits): string => {
    if (isNullValue(left) || isNullValue(of)) return negated ? '1 = 1' : '1 = 0';
    if (isTrimmedColumn(left)) of = trimmedOperand(of);
    // SQL uses the collation of the left operand.
    else if (op === '=' && left.type.kind === 'text' && isTrimmedColumn(of))
      return compared(of, op, left, negated, digits);
    if (left.kind === 'value' && isSmallUuid(left.type)) {
      const plain = { ...left, type: looseType(left.value, left.type) };
      return compared(plain, op, of, negated, digits);
    }
    // The value takes the column's letter case, so that the column's index serves.
    if (op === '=' && left.kind === 'value' && isSmallUuid(of.type)) return compared(of, op, left, negated, digits);
    if (negated) {
      const sql = `${exact(left)} ${OPPOSITE[op]} ${right(left.type, of, op)}`;
      const nulls = orCastNull(left, op, of);
      return nulls === '' ? sql : `(${sql}${nulls})`;
    }
    if (isMixedColumn(left) && of.kind === 'value' && /^[<>]=?$/.test(op)) return ranged(left, op, of, digits);
    if (!dialect.seeksApart || left.type.kind !== 'text')
      return `${exact(op === '=' ? bare(left, [of]) : left)} ${op} ${right(left.type, of, op)}`;
    const leftSql = expression(left);
    const rightSql = right(left.type, of, op);
    if (isDigits(of) && digits.has(expressionKey(left))) return `${leftSql} ${op} ${rightSql}`;
    const sql = `${exact(left, leftSql)} ${op} ${rightSql}`;
    if (op !== '=' || !(left.kind === 'column' || of.kind === 'column')) return sql;
    return `(${leftSql} = ${dialect.seekOperand(rightSql, of.type, left.type)} AND ${sql})`;
  };

  /** Compares in the column's own collation, for the complement too. */
  const native = ({ left, op, right: of, not }: Leaf<'compare'>): string => {
    if (isNullValue(left) || isNullValue(of)) return not ? '1 = 1' : '1 = 0';
    const sql = `${expression(left)} ${not ? OPPOSITE[op] : op} ${right(untrimmed(left.type), of, op)}`;
    return not ? `(${sql}${orCastNull(left, op, of)})` : sql;
  };

  /** True if the value equals none of the constants; true for NULL too. */
  const noneOf = (left: Expression, constants: readonly Expression[]): string => {
    const equal = constants.map(constant => ` WHEN ${right(left.type, constant)} THEN 0`).join('');
    return `CASE ${exact(left)}${equal} ELSE 1 END = 1`;
  };

  const listed = ({ left, values, not }: Leaf<'in'>): string => {
    const given = values.filter(v => !isNullValue(v));
    const known = isTrimmedColumn(left) ? given.map(trimmedOperand) : given;
    if (known.length === 0 || isNullValue(left)) return not ? '1 = 1' : '1 = 0';
    const list = () =>
      `(${(known.every(isConstant) ? known : parts.lengthen(known)).map(v => right(left.type, v)).join(', ')})`;
    if (not) {
      if (known.some(v => v.kind !== 'value')) return complement(`${exact(left)} IN ${list()}`);
      if (known.length <= dialect.constantsOneByOne && known.every(isConstant)) return noneOf(left, known);
      return `(${exact(left)} NOT IN ${list()}${orNull(left)})`;
    }
    if (!dialect.seeksApart || left.type.kind !== 'text' || left.kind !== 'column')
      return `${exact(bare(left, known))} IN ${list()}`;
    const leftSql = expression(left);
    const all = list();
    // The server refuses to compare columns of two collations; the exact part names one.
    if (known.some(of => isOtherCollation(of.type, left.type))) return `${exact(left, leftSql)} IN ${all}`;
    return `(${leftSql} IN ${all} AND ${exact(left, leftSql)} IN ${all})`;
  };

  const filled = (of: Expression, negated: boolean): string => {
    if (of.type.kind === 'binary')
      return signed(
        dialect.hasBytes(() => expression(of)),
        negated,
      );
    if (of.type.kind !== 'text') return `${expression(of)} IS ${negated ? '' : 'NOT '}NULL`;
    return negated ? `(${exact(of)} = ''${orNull(of)})` : `${exact(of)} <> ''`;
  };

  const contained = (of: Leaf<'contains'>): string => {
    const several = of.texts.length > 1;
    if (several && of.where !== 'seek' && dialect.containsSome) return dialect.containsSome(parts.self(), of);
    const each = of.texts.map(text => dialect.contains(parts.self(), of, text));
    return several ? `(${joined(each, ' OR ')})` : (each[0] ?? '1 = 0');
  };

  const somePiece = ({ of, by, alias, joins = [], where }: Leaf<'some-piece'>): string => {
    const pieces = dialect.pieces(parts.self(), of, by);
    const joined = parts.joins({ table: { name: alias }, alias, joins, where });
    return `EXISTS (SELECT 1 FROM (${pieces}) AS ${dialect.name(alias)}${joined} WHERE ${write(where, NO_DIGITS)})`;
  };

  /**
   * Compares with values of other relations. Each select names the collation of exact comparison, because SQL Server
   * does not combine columns of two collations.
   */
  const inSelects = ({ left, of }: Leaf<'in-selects'>): string => {
    const selects = of.map(({ select: column, from }) => {
      const select = isTrimmedColumn(left) ? trimmedOperand(column) : column;
      // Written first, because parameters are numbered in the order of the text.
      const isCast = needsCast(select.type, left.type);
      const item = isCast ? dialect.cast(() => expression(select), select.type, left.type) : exact(select);
      const selected = `SELECT ${item}`;
      return `${selected} ${parts.relation(from, ' ', [select])}`;
    });
    return `${exact(left)} IN (${selects.join(' UNION ALL ')})`;
  };

  const write = (of: Predicate, digits: Digits): string =>
    digits === NO_DIGITS && COMPOUND.has(of.kind) ? parts.once(of, () => written(of, digits)) : written(of, digits);

  const written = (of: Predicate, digits: Digits): string => {
    switch (of.kind) {
      case 'true':
        return '1 = 1';
      case 'false':
        return '1 = 0';
      case 'and':
      case 'or': {
        if (of.of.length === 0) return of.kind === 'and' ? '1 = 1' : '1 = 0';
        const inner = of.kind === 'and' ? withDigits(of.of, digits) : digits;
        const parts = of.of.map(part =>
          part.kind === 'and' || part.kind === 'or' ? `(${write(part, inner)})` : write(part, inner),
        );
        return joined(parts, of.kind === 'and' ? ' AND ' : ' OR ');
      }
      case 'compare':
        return of.native ? native(of) : compared(of.left, of.op, of.right, of.not, digits);
      case 'equals':
        return compared(of.left, '=', of.right, of.not, digits);
      case 'in':
        return listed(of);
      case 'null':
        if (of.not && isMixedColumn(of.of)) return given(of.of, digits);
        return `${expression(of.of)} IS ${of.not ? 'NOT ' : ''}NULL`;
      case 'filled':
        return filled(of.of, of.not);
      case 'contains':
        return signed(contained(of), of.not);
      case 'glob':
        return signed(dialect.glob(parts.self(), of.of, of.pattern), of.not);
      case 'packed-date':
        return signed(dialect.packedDate(parts.self(), of.of), of.not);
      case 'exists':
        return `${of.not ? 'NOT ' : of.byRow ? dialect.byRow : ''}EXISTS (SELECT 1 ${parts.relation(of.from, ' ')})`;
      case 'in-selects':
        return signed(inSelects(of), of.not);
      case 'some-piece':
        return `${of.not ? 'NOT ' : ''}${somePiece(of)}`;
      case 'raw':
        return signed(`(${parts.raw(of.parts)})`, of.not);
    }
  };

  return { predicate: of => write(of, NO_DIGITS) };
}

/**
 * Longest chain of AND or OR. Engines nest a chain as deep as it is long (SQLite refuses 1,000 levels), so longer ones
 * are written in halves.
 */
const CHAIN = 64;

function joined(parts: readonly string[], operator: ' AND ' | ' OR '): string {
  if (parts.length <= CHAIN) return parts.join(operator);
  const half = Math.ceil(parts.length / 2);
  return `(${joined(parts.slice(0, half), operator)})${operator}(${joined(parts.slice(half), operator)})`;
}

function signed(sql: string, negated: boolean): string {
  return negated ? complement(sql) : sql;
}

function complement(sql: string): string {
  return `CASE WHEN ${sql} THEN 0 ELSE 1 END = 1`;
}

function needsCast(from: ColumnType, to: ColumnType): boolean {
  if (familyOf(from) !== familyOf(to)) return true;
  if (from.kind === 'uuid') return isSmallUuid(from) !== isSmallUuid(to);
  if (from.kind === 'datetime' && to.kind === 'datetime') return from.name !== to.name || from.fraction !== to.fraction;
  return familyOf(to) === 'moment' && from.kind !== to.kind;
}

/** Trims an operand beside a trimmed column. Values lose their blanks when they are bound. */
function trimmedOperand(of: Expression): Expression {
  if (of.kind === 'value' || endsTrimmed(of)) return of;
  return { kind: 'function', name: 'rtrim', args: [of], type: of.type };
}

/** Returns the type without `trimmed`, so that values beside it stay unchanged. */
function untrimmed(type: ColumnType): ColumnType {
  if (type.kind !== 'text' || !type.trimmed) return type;
  const { trimmed: _, ...plain } = type;
  return plain;
}

function isNullValue(of: Expression): boolean {
  return of.kind === 'value' && of.value === null;
}

function isConstant(of: Expression): boolean {
  return of.kind === 'value' && of.constant === true;
}

export function isDigits(of: Expression): boolean {
  return of.kind === 'value' && ALL_DIGITS.test(String(of.value));
}

/**
 * Adds what a conjunction limits to digits. Beside such a limit a plain comparison with digits equals the binary one
 * (all collations sort digits alike), and only the plain one can seek.
 */
export function withDigits(conjuncts: readonly Predicate[], outer: Digits): Digits {
  const found = conjuncts.flatMap(keptToDigits);
  const more = conjuncts.some(asksMixed) ? [...found, ...conjuncts.flatMap(boundedEnd)] : found;
  return more.length === 0 ? outer : new Set([...outer, ...more]);
}

/** Returns the keys of expressions that are digits whenever the predicate holds. */
function keptToDigits(of: Predicate): readonly string[] {
  if (of.kind === 'packed-date') return of.not ? [] : [expressionKey(of.of)];
  if (of.kind === 'glob') return !of.not && DIGIT_GLOB.test(of.pattern) ? [expressionKey(of.of)] : [];
  if (of.kind === 'and') return of.of.flatMap(keptToDigits);
  if (of.kind !== 'or') return [];
  const [first = [], ...others] = of.of.map(keptToDigits);
  return first.filter(key => others.every(keys => keys.includes(key)));
}

const ENDS: readonly Side[] = ['first', 'last'];

function isMixedColumn(of: Expression): of is ColumnExpression {
  return of.kind === 'column' && isMixed(of.type);
}

function asksMixed(part: Predicate): boolean {
  if (part.kind === 'compare') return isMixedColumn(part.left);
  return part.kind === 'null' && part.not && isMixedColumn(part.of);
}

/** Returns the ends that a comparison with a value limits. */
function boundedEnd(part: Predicate): readonly string[] {
  if (part.kind !== 'compare' || part.not || part.left.kind !== 'column' || part.right.kind !== 'value') return [];
  if (part.op === '<>' || part.right.value === null) return [];
  const ends = part.op === '=' ? ENDS : [part.op.startsWith('>') ? ('first' as const) : ('last' as const)];
  return ends.map(end => endKey(part.left, end));
}

function endKey(column: Expression, end: Side): string {
  return `${end} ${expressionKey(column)}`;
}
