/**
 * Renames the aliases of an expression, so that a relation of one mapping can be used inside a query of another, or of
 * itself. An alias may also be replaced by the expressions of its columns.
 */

import type { ColumnExpression, Expression, Join, Order, Predicate, Relation } from './expression.ts';
import { type Identifier, identifier } from './identifier.ts';
import { aliasesOf, walk } from './walk.ts';

type Aliases = ReadonlyMap<Identifier, Identifier>;
/** The new name of an alias, or a function that replaces its columns. */
type Replacements = ReadonlyMap<Identifier, Identifier | ((column: ColumnExpression) => Expression)>;

const NONE: Aliases = new Map();

/**
 * Renames the aliases that a relation declares, in all its parts. The suffix is the depth of nested relations inside,
 * so that an inner relation never hides an outer one that it refers to.
 */
export function renameRelation(relation: Relation): { readonly relation: Relation; readonly aliases: Aliases } {
  const suffix = `_${nesting(relation)}`;
  const aliases = new Map<Identifier, Identifier>();
  for (const alias of [relation.alias, ...relation.joins.map(join => join.alias)])
    aliases.set(alias, identifier(alias + suffix));
  return {
    aliases,
    relation: {
      table: relation.table,
      alias: aliases.get(relation.alias) ?? relation.alias,
      joins: relation.joins.map(join => renameJoin(join, aliases)),
      where: renamePredicate(relation.where, aliases),
    },
  };
}

function renameJoin(join: Join, aliases: Replacements): Join {
  const renamed = aliases.get(join.alias);
  return {
    ...join,
    alias: typeof renamed === 'string' ? renamed : join.alias,
    on: renamePredicate(join.on, aliases),
    ...(join.pick ? { pick: renameOrders(join.pick, aliases) } : {}),
  };
}

function renameOrders(orders: readonly Order[], aliases: Replacements): readonly Order[] {
  return orders.map(one => ({ ...one, by: renameExpression(one.by, aliases) }));
}

/** Pieces, with the rows that are joined to them. */
interface JoinedPieces {
  readonly alias: Identifier;
  readonly joins?: readonly Join[];
}

/** Drops the replacements of aliases that the part declares itself. */
function without(aliases: Replacements, { alias, joins = [] }: JoinedPieces): Replacements {
  return new Map([...aliases].filter(([from]) => from !== alias && joins.every(join => join.alias !== from)));
}

function renamedJoins({ joins }: JoinedPieces, aliases: Replacements): Pick<JoinedPieces, 'joins'> {
  return joins ? { joins: joins.map(join => renameJoin(join, aliases)) } : {};
}

/** Renames in a nested relation. Its own aliases keep their names, unless they would hide a new name from outside. */
function renameInner(nested: Relation, aliases: Replacements): { relation: Relation; free: Replacements } {
  const outside = new Map([...aliases].filter(([from]) => !declares(nested, from)));
  const { relation, aliases: own } = hides(nested, outside)
    ? renameRelation(nested)
    : { relation: nested, aliases: NONE };
  return {
    relation: {
      ...relation,
      joins: relation.joins.map(join => renameJoin(join, outside)),
      where: renamePredicate(relation.where, outside),
    },
    free: new Map([...outside, ...own]),
  };
}

function declares(relation: Relation, alias: Identifier): boolean {
  return relation.alias === alias || relation.joins.some(join => join.alias === alias);
}

/** True if the relation refers to an outer column whose new name is one of its own aliases. */
function hides(relation: Relation, outside: Replacements): boolean {
  const hidden = [...outside].filter(([, to]) => typeof to === 'string' && declares(relation, to));
  if (hidden.length === 0) return false;
  const where = [relation.where, ...relation.joins.map(join => join.on)];
  const used = aliasesOf({ predicates: where });
  return hidden.some(([from]) => used.has(from));
}

export function renameExpression(expression: Expression, aliases: Replacements): Expression {
  switch (expression.kind) {
    case 'column': {
      const renamed = aliases.get(expression.alias);
      if (typeof renamed === 'function') return renamed(expression);
      return renamed ? { ...expression, alias: renamed } : expression;
    }
    case 'value':
      return expression;
    case 'function':
      return {
        ...expression,
        args: expression.args.map(a => (typeof a === 'number' ? a : renameExpression(a, aliases))),
      };
    case 'flag':
      return { ...expression, when: renamePredicate(expression.when, aliases) };
    case 'choice':
      return {
        ...expression,
        of: expression.of.map(({ when, give }) => ({
          when: renamePredicate(when, aliases),
          give: renameExpression(give, aliases),
        })),
        ...(expression.otherwise ? { otherwise: renameExpression(expression.otherwise, aliases) } : {}),
      };
    case 'scalar': {
      const { relation, free } = renameInner(expression.from, aliases);
      return {
        ...expression,
        select: renameExpression(expression.select, free),
        from: relation,
        ...(expression.order === undefined ? {} : { order: renameOrders(expression.order, free) }),
      };
    }
    case 'first-piece': {
      const free = without(aliases, expression);
      return {
        ...expression,
        of: renameExpression(expression.of, aliases),
        select: renameExpression(expression.select, free),
        ...renamedJoins(expression, free),
        where: renamePredicate(expression.where, free),
        order: renameOrders(expression.order, free),
      };
    }
    case 'raw':
      return {
        ...expression,
        parts: expression.parts.map(p => (typeof p === 'string' ? p : renameExpression(p, aliases))),
      };
  }
}

export function renamePredicate(predicate: Predicate, aliases: Replacements): Predicate {
  const e = (expression: Expression): Expression => renameExpression(expression, aliases);
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return predicate;
    case 'and':
    case 'or':
      return { ...predicate, of: predicate.of.map(p => renamePredicate(p, aliases)) };
    case 'compare':
    case 'equals':
      return { ...predicate, left: e(predicate.left), right: e(predicate.right) };
    case 'in':
      return { ...predicate, left: e(predicate.left), values: predicate.values.map(e) };
    case 'null':
    case 'filled':
    case 'contains':
    case 'glob':
    case 'packed-date':
      return { ...predicate, of: e(predicate.of) };
    case 'some-piece': {
      const free = without(aliases, predicate);
      return {
        ...predicate,
        of: e(predicate.of),
        ...renamedJoins(predicate, free),
        where: renamePredicate(predicate.where, free),
      };
    }
    case 'exists':
      return { ...predicate, from: renameInner(predicate.from, aliases).relation };
    case 'in-selects':
      return {
        ...predicate,
        left: e(predicate.left),
        of: predicate.of.map(({ select, from }) => {
          const { relation, free } = renameInner(from, aliases);
          return { select: renameExpression(select, free), from: relation };
        }),
      };
    case 'raw':
      return { ...predicate, parts: predicate.parts.map(p => (typeof p === 'string' ? p : e(p))) };
  }
}

/** Returns the depth of nesting: 1 for a relation without others inside. */
function nesting(relation: Relation): number {
  let [depth, deepest] = [0, 0];
  walk(
    { relations: [relation] },
    {
      enter() {
        depth++;
        deepest = Math.max(deepest, depth);
        return true;
      },
      leave() {
        depth--;
      },
    },
  );
  return deepest;
}
