/**
 * Walks over the parts of a query; only this file knows the parts of each kind of expression, predicate and relation.
 * In: parts, and a visitor. Other functions return the aliases and columns that parts refer to, nested relations
 * included, and their size in memory.
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
  /** Called before its arguments. */
  function?(call: Expression & { readonly kind: 'function' }): void;
  /** Called before a relation's contents and what is selected from it. False: skips both, and `leave`. */
  enter?(relation: Relation): boolean;
  /** Called after them. */
  leave?(relation: Relation): void;
  /** Called before the parts of a predicate. False: skips them. */
  predicate?(of: Predicate): boolean;
  /** Called with the text of a mapping's own SQL. */
  raw?(text: string): void;
}

/** Visits all parts, including relations inside relations. */
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
    if (visitor.predicate?.(of) === false) return;
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
      case 'in-selects':
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
  /** `selected` and `ordered`: the expressions that are selected from it, or sort it. */
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

/** Returns all aliases that parts refer to. */
export function aliasesOf(parts: Parts): Set<Identifier> {
  const found = new Set<Identifier>();
  walk(parts, { column: ({ alias }) => void found.add(alias) });
  return found;
}

/**
 * Returns the columns of a join of `relation` that the rest of its query refers to, each once. `outside`: the
 * expressions that are selected from the relation or sort it. A nested relation may reuse the alias for a table of its
 * own.
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

/** Approximate bytes of an object. */
const NODE = 100;

/**
 * Estimates the bytes that a tree of predicates and expressions, or a list of trees, takes in memory, including the SQL
 * written from it. Stops at `most`. Mappings in the tree belong to their registry and do not count.
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
