/**
 * Compiles a SqlPlan into one SELECT with bound parameters. In: a plan and a dialect. Out: the statement. The text
 * depends only on the shape of the plan (including which values are NULL and how many values a list has); it contains
 * no value of a request.
 *
 * Every predicate is two-valued in effect. NOT stands only at leaves, and the complement of a leaf is true if an
 * operand is NULL. NULL sorts first ascending and last descending (`Dialect.nulls`).
 */
import { INTEGER } from './column-type.ts';
import { StatementTooLarge } from './database.ts';
import { type Dialect, type Writer, writtenOnce } from './dialect.ts';
import type { Expression, Join, Order, Predicate, Relation } from './expression.ts';
import { expressionKey } from './expression-key.ts';
import { type Identifier, identifier } from './identifier.ts';
import { padded } from './padded.ts';
import { looseType } from './parameter-type.ts';
import type { Parameter, SqlPlan, Statement } from './plan.ts';
import { createPredicates } from './render-predicate.ts';
import { columnsUsed } from './walk.ts';

/**
 * Renders a plan. Throws a TypeError on a plan that no planner should make (malformed arguments, raw text with `;`),
 * and StatementTooLarge if the engine does not take so many parameters.
 */
export function render(plan: SqlPlan, dialect: Dialect): Statement {
  // Tries again without padding if padded lists exceed the limit of parameters.
  for (const lengthen of [padded, asLong]) {
    const { writer, relation, parameters } = createWriter(dialect, lengthen);
    const text = selectText(plan, dialect, writer, relation);
    if (parameters.length <= dialect.parametersAtMost) return { text, parameters };
  }
  throw new StatementTooLarge();
}

function asLong<T>(values: readonly T[]): readonly T[] {
  return values;
}

/** `outside`: the expressions that are selected from the relation or sort it. */
type RenderRelation = (relation: Relation, gap: '\n' | ' ', outside: readonly Expression[]) => string;

function selectText(plan: SqlPlan, dialect: Dialect, writer: Writer, relation: RenderRelation): string {
  if (plan.shape === 'count') return countText(plan, writer, relation);
  if (plan.shape === 'sums') return sumsText(plan, writer, relation);
  if (plan.shape === 'tally') return tallyText(plan, dialect, writer, relation);
  const placeholder = plan.limitPlaceholder === undefined ? undefined : { at: plan.limitPlaceholder, type: INTEGER };
  let bound = '';
  const limit = (): string => {
    bound = writer.bind(plan.limit, INTEGER, placeholder);
    return bound;
  };
  const top = dialect.top(limit);
  const end = (): string => `${dialect.tail(limit, '\n')}${dialect.hint(bound)}`;
  if (plan.shape === 'groups') return `SELECT ${top}${groupsText(plan, dialect, writer, relation)}${end()}`;
  const fetched = (column: Expression) =>
    plan.stored ? dialect.stored(writer, column) : dialect.fetch(writer, column);
  const items = plan.columns.length === 0 ? '1' : plan.columns.map(fetched).join(', ');
  const from = relation(plan.from, '\n', [...plan.columns, ...plan.orderBy.map(({ by }) => by)]);
  const order = writer.order(plan.orderBy);
  return `SELECT ${top}${items}\n${from}${order === '' ? '' : `\nORDER BY ${order}`}${end()}`;
}

/** Renders a predicate by itself, for `explain` and tests. */
export function renderPredicate(predicate: Predicate, dialect: Dialect): Statement {
  const { writer, parameters } = createWriter(dialect);
  return { text: writer.predicate(predicate), parameters };
}

/** Renders an expression by itself. */
export function renderExpression(expression: Expression, dialect: Dialect): Statement {
  const { writer, parameters } = createWriter(dialect);
  return { text: writer.expression(expression), parameters };
}

function countText(plan: SqlPlan, writer: Writer, relation: RenderRelation): string {
  if (plan.columns.length === 0) return `SELECT COUNT(*)\n${relation(plan.from, '\n', [])}`;
  // T-SQL refuses a subquery, such as the EXISTS of a flag, inside an aggregate.
  const flags = plan.columns.map(c => writer.expression(c)).join(' + ');
  return `SELECT COALESCE(SUM(f.n), 0)\nFROM (SELECT ${flags} AS n\n${relation(plan.from, '\n', plan.columns)}) AS f`;
}

function groupsText(plan: SqlPlan, dialect: Dialect, writer: Writer, relation: RenderRelation): string {
  const { grouped, inner } = grouping(plan, dialect, writer, relation);
  const fetched = grouped.map(column => dialect.fetch(writer, column)).join(', ');
  const by = grouped.map(column => writer.expression(column)).join(', ');
  const having = plan.least === undefined ? '' : `\nHAVING COUNT(*) >= ${writer.bind(plan.least, INTEGER)}`;
  return `${fetched}, COUNT(*)\nFROM (${inner}) AS g\nGROUP BY ${by}${having}\nORDER BY COUNT(*) DESC, ${by}`;
}

function tallyText(plan: SqlPlan, dialect: Dialect, writer: Writer, relation: RenderRelation): string {
  const { grouped, inner } = grouping(plan, dialect, writer, relation);
  const by = grouped.map(column => writer.expression(column)).join(', ');
  const groups = `SELECT COUNT(*) AS n\nFROM (${inner}) AS g\nGROUP BY ${by}`;
  return `SELECT COUNT(*), COALESCE(SUM(t.n), 0)\nFROM (${groups}) AS t`;
}

/** Like `countText`, with a sum for each flag. */
function sumsText(plan: SqlPlan, writer: Writer, relation: RenderRelation): string {
  const flags = plan.columns.map((c, i) => `${writer.expression(c)} AS n${i}`).join(', ');
  const sums = plan.columns.map((_, i) => `, COALESCE(SUM(f.n${i}), 0)`).join('');
  return `SELECT COUNT(*)${sums}\nFROM (SELECT ${flags === '' ? '1 AS n' : flags}\n${relation(plan.from, '\n', plan.columns)}) AS f`;
}

/**
 * Splits grouping into two selects: the inner one gives text the collation of exact comparison, so that the outer one
 * can group by it.
 */
function grouping(
  plan: SqlPlan,
  dialect: Dialect,
  writer: Writer,
  relation: RenderRelation,
): { readonly grouped: readonly Expression[]; readonly inner: string } {
  const grouped = plan.columns.map((by, i): Expression => {
    return { kind: 'column', alias: identifier('g'), column: identifier(`k${i}`), type: by.type };
  });
  const keys = plan.columns.map((by, i) => {
    const sql = writer.expression(by);
    return `${by.type.kind === 'text' ? dialect.exact(sql, by) : sql} AS k${i}`;
  });
  return { grouped, inner: `SELECT ${keys.join(', ')}\n${relation(plan.from, '\n', plan.columns)}` };
}

function createWriter(
  dialect: Dialect,
  lengthen: typeof padded = padded,
): {
  readonly writer: Writer;
  readonly relation: RenderRelation;
  readonly parameters: readonly Parameter[];
} {
  const parameters: Parameter[] = [];

  const bind: Writer['bind'] = (value, type, placeholder) => {
    const position = parameters.length;
    parameters.push({ name: `p${position}`, value, type, ...(placeholder ? { placeholder } : {}) });
    return dialect.placeholder(position, type);
  };

  const constant: Writer['constant'] = (value, type) => dialect.literal(value, type) ?? bind(value, type);

  const { fragments } = dialect;
  const once = (part: Expression | Predicate, write: () => string): string =>
    fragments ? writtenOnce(part, fragments, parameters, write) : write();

  const expression = (of: Expression): string => {
    switch (of.kind) {
      case 'column':
        return dialect.column(`${dialect.name(of.alias)}.${dialect.name(of.column)}`, of.type);
      case 'value': {
        const type = looseType(of.value, of.type);
        return of.constant ? constant(of.value, type) : bind(of.value, type, placeholderOf(of));
      }
      case 'function':
        return dialect.call(writer, of.name, of.args);
      case 'flag':
        return once(of, () => `CASE WHEN ${predicates.predicate(of.when)} THEN 1 ELSE 0 END`);
      case 'choice':
        return once(of, () => {
          const choices = of.of.map(({ when, give }) => `WHEN ${predicates.predicate(when)} THEN ${expression(give)}`);
          const otherwise = of.otherwise ? ` ELSE ${expression(of.otherwise)}` : '';
          return `CASE ${choices.join(' ')}${otherwise} END`;
        });
      case 'scalar':
        return once(of, () => {
          // Written first, because parameters are numbered in the order of the text.
          const selected = `SELECT ${dialect.top(one)}${expression(of.select)} ${relation(of.from, ' ', [of.select, ...(of.order ?? []).map(({ by }) => by)])}`;
          const by = of.order === undefined ? '' : ` ORDER BY ${order(of.order)}`;
          return `(${selected}${by}${dialect.tail(one, ' ')})`;
        });
      case 'first-piece':
        return once(of, () => {
          const selected = `SELECT ${dialect.top(one)}${expression(of.select)} FROM (${dialect.pieces(writer, of.of, of.by)})`;
          const outside = [of.select, ...of.order.map(({ by }) => by)];
          const joined = joinsText({ table: { name: of.alias }, joins: [], ...of }, ' ', outside);
          const where = predicates.predicate(of.where);
          return `(${selected} AS ${dialect.name(of.alias)}${joined} WHERE ${where} ORDER BY ${order(of.order)}${dialect.tail(one, ' ')})`;
        });
      case 'raw':
        return dialect.column(`(${raw(of.parts)})`, of.type);
    }
  };

  const raw = (parts: readonly (string | Expression)[]): string =>
    parts.map(part => (typeof part === 'string' ? rawText(part) : expression(part))).join('');

  /** Leaves out constants and repeated expressions: T-SQL refuses them here, and neither changes the order. */
  const order = (orders: readonly Order[]): string => {
    const seen = new Set<string>();
    const items: string[] = [];
    for (const { by, descending, native } of orders) {
      const key = expressionKey(by);
      if (by.kind === 'value' || seen.has(key)) continue;
      seen.add(key);
      const sql = expression(by);
      const sorted = by.type.kind === 'text' && !native ? dialect.exact(sql, by) : sql;
      items.push(`${sorted}${descending ? ' DESC' : ''}${dialect.nulls(descending)}`);
    }
    return items.join(', ');
  };

  const join = (of: Join, usedColumns: () => readonly Identifier[]): string => {
    if (of.pick) return dialect.pick(writer, of, of.pick, usedColumns);
    const kind = of.kind === 'left' ? 'LEFT JOIN' : 'JOIN';
    return `${kind} ${dialect.table(of.table)} AS ${dialect.name(of.alias)} ON ${predicates.predicate(of.on)}`;
  };

  const joinsText: RenderRelation = (of, gap, outside) =>
    of.joins.map(j => `${gap}${join(j, () => columnsUsed(j.alias, of, outside))}`).join('');

  const relation: RenderRelation = (of, gap, outside) => {
    const joins = joinsText(of, gap, outside);
    const where = of.where.kind === 'true' ? '' : `${gap}WHERE ${predicates.predicate(of.where)}`;
    return `FROM ${dialect.table(of.table)} AS ${dialect.name(of.alias)}${joins}${where}`;
  };

  const predicates = createPredicates(dialect, {
    ...{ expression, raw, bind, constant, once, lengthen, self: () => writer },
    relation: (of, gap, outside = []) => relation(of, gap, outside),
    joins: of => joinsText(of, ' ', []),
  });
  const { name, table } = dialect;
  const writer: Writer = { name, table, expression, predicate: predicates.predicate, order, bind, constant };
  return { writer, relation, parameters };
}

function placeholderOf({ placeholder, type }: Expression & { readonly kind: 'value' }): Parameter['placeholder'] {
  return placeholder === undefined ? undefined : { at: placeholder, type };
}

/** The limit of a sub-select. */
function one(): string {
  return '1';
}

/**
 * Checks that raw text is one expression of a mapping, after which no statement follows and without a comment that
 * hides what follows.
 */
function rawText(text: string): string {
  const outside = text.replace(/'(?:[^']|'')*'/g, '');
  if (/;|--|\/\*|'/.test(outside)) throw new TypeError('raw SQL has to be one expression without comments');
  return text;
}
