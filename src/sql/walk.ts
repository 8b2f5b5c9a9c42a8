/**
 * Walks over the parts of a query. It is the only place that knows the parts of each kind of expression, predicate and
 * relation. In: parts, and a visitor; or parts alone, for the aliases and columns that they refer to, those of nested
 * relations included, and for their size in memory.
 */
import type { ColumnExpression, Expression, Join, Order, Predicate, Relation } from './expression.ts';
import type { Identifier } from './identifier.ts';

export interface Parts {
  readonly predicates?: readonly Predicate[];
  readonly expressions?: readonly Expression[];
  readonly relations?: readonly Relation[];
}

export interface Visitor {
  column?(column: ColumnExpression): void;
  value?(value: Expression & { readonly kind: 'value' }): void;
  /** Before its arguments. */
  function?(call: Expression & { readonly kind: 'function' }): void;
  /** Before what a relation holds and what is selected from it. False: both are passed by, and nothing is left. */
  enter?(relation: Relation): boolean;
  /** After them. */
  leave?(relation: Relation): void;
  /** Text of a mapping's own SQL. */
  raw?(text: string): void;
}

/** Visits all that the parts hold, relations inside relations included. */
export function walk({ predicates = [], expressions = [], relations = [] }: Parts, visitor: Visitor): void {
  const expression = (of: Expression): void => {
    switch (of.kind) {
      case 'column':
        visitor.column?.(of);
        return;
      case 'value':
        visitor.value?.(of);
        return;
      case 'function':
        visitor.function?.(of);
        for (const argument of of.args) if (typeof argument !== 'number') expression(argument);
        return;
      case 'flag':
        predicate(of.when);
        return;
      case 'choice':
        for (const { when, give } of of.of) {
          predicate(when);
          expression(give);
        }
        if (of.otherwise) expression(of.otherwise);
        return;
      case 'scalar':
        relation(of.from, [of.select], of.order);
        return;
      case 'first-piece':
        expression(of.of);
        expression(of.select);
        joins(of.joins);
        predicate(of.where);
        orders(of.order);
        return;
      case 'raw':
        mixed(of.parts);
        return;
    }
  };
  const predicate = (of: Predicate): void => {
    switch (of.kind) {
      case 'true':
      case 'false':
        return;
      case 'and':
      case 'or':
        of.of.forEach(predicate);
        return;
      case 'compare':
      case 'equals':
        expression(of.left);
        expression(of.right);
        return;
      case 'in':
        expression(of.left);
        of.values.forEach(expression);
        return;
      case 'null':
      case 'filled':
      case 'contains':
      case 'glob':
      case 'packed-date':
        expression(of.of);
        return;
      case 'exists':
        relation(of.from);
        return;
      case 'taken':
        expression(of.left);
        for (const { select, from } of of.of) relation(from, [select]);
        return;
      case 'some-piece':
        expression(of.of);
        joins(of.joins);
        predicate(of.where);
        return;
      case 'raw':
        mixed(of.parts);
        return;
    }
  };
  const joins = (of: readonly Join[] = []): void => {
    for (const { on, pick = [] } of of) {
      predicate(on);
      orders(pick);
    }
  };
  /** `selected` and `ordered`: what is taken from it. */
  const relation = (of: Relation, selected: readonly Expression[] = [], ordered: readonly Order[] = []): void => {
    if (visitor.enter?.(of) === false) return;
    selected.forEach(expression);
    orders(ordered);
    joins(of.joins);
    predicate(of.where);
    visitor.leave?.(of);
  };
  const orders = (all: readonly Order[]): void => {
    for (const { by } of all) expression(by);
  };
  const mixed = (parts: readonly (string | Expression)[]): void => {
    for (const part of parts) {
      if (typeof part === 'string') visitor.raw?.(part);
      else expression(part);
    }
  };
  predicates.forEach(predicate);
  expressions.forEach(expression);
  for (const one of relations) relation(one);
}

/** All aliases that parts refer to. */
export function aliasesOf(parts: Parts): Set<Identifier> {
  const found = new Set<Identifier>();
  walk(parts, { column: ({ alias }) => void found.add(alias) });
  return found;
}

/**
 * The columns of a join of `relation` that the rest of its query refers to, each once. `outside` is what is selected
 * from the relation and sorted by. A nested relation may use the alias again, for a table of its own.
 */
export function columnsUsed(
  alias: Identifier,
  relation: Relation,
  outside: readonly Expression[],
): readonly Identifier[] {
  const found = new Map<string, Identifier>();
  const others = relation.joins.filter(join => join.alias !== alias);
  walk(
    {
      predicates: [relation.where, ...others.map(join => join.on)],
      expressions: [...outside, ...others.flatMap(join => join.pick?.map(({ by }) => by) ?? [])],
    },
    {
      column(column) {
        const name = column.column.toLowerCase();
        if (column.alias === alias && !found.has(name)) found.set(name, column.column);
      },
      enter: inner => inner.alias !== alias && inner.joins.every(join => join.alias !== alias),
    },
  );
  return [...found.values()];
}

/** Bytes of an object, about. */
const NODE = 100;

/**
 * Estimates the bytes that a tree of predicates and expressions, or a list of trees, holds in memory, with the SQL that
 * is written of it. The walk ends at `most`. Mappings that the tree names belong to their registry and weigh nothing.
 */
export function weightOf(tree: object, most: number): number {
  let bytes = 0;
  const open: object[] = [tree];
  for (let part = open.pop(); part !== undefined && bytes < most; part = open.pop()) {
    bytes += NODE;
    for (const [name, value] of Object.entries(part)) {
      if (typeof value === 'string') bytes += value.length;
      else if (typeof value === 'object' && value !== null && !APART.has(name)) open.push(value);
    }
  }
  return bytes;
}

const APART: ReadonlySet<string> = new Set(['mapping', 'type']);
