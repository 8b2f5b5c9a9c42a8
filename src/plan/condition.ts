/**
 * Turns conditions and scopes of a mapping into SQL. A condition may look into a scope, and a scope is filtered by
 * conditions. In: model and instant. Out: two-valued Predicates, and Relations with only the joins that are needed.
 */
import type { Clock } from '../mapping/criterion.ts';
import type { Condition, JoinColumn, Lookup, Scope } from '../mapping/model.ts';
import { type ColumnType, UNICODE } from '../sql/column-type.ts';
import { among, and, call, compare, constant, equals, exists, filled, glob, not, or, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Join, Predicate, Relation } from '../sql/expression.ts';
import { aliasesOf } from '../sql/walk.ts';
import { nowPredicate } from './reuse/moments.ts';

/** Returns the rows for which a condition holds. `not` of it gives exactly the other rows. */
export function conditionPredicate(condition: Condition, clock: Clock): Predicate {
  switch (condition.kind) {
    case 'always':
      return TRUE;
    case 'all':
      return and(...condition.of.map(c => conditionPredicate(c, clock)));
    case 'any':
      return or(...condition.of.map(c => conditionPredicate(c, clock)));
    case 'none':
      return not(conditionPredicate(condition.of, clock));
    case 'is':
      return among(
        condition.column,
        condition.values.map(v => constant(v, condition.column.type)),
      );
    case 'order':
      return compare(condition.column, condition.op, constant(condition.value, condition.column.type));
    case 'now':
      return nowPredicate(condition, clock);
    case 'matches':
      return glob(condition.column, condition.pattern);
    case 'same':
      return inFinerType(condition.column, condition.other, equals);
    case 'ordered': {
      const { column, op, other, codec } = condition;
      if (codec) {
        return and(codec.present([column], clock), codec.present([other], clock), compare(column, op, other));
      }
      return inFinerType(column, other, (left, right) => compare(left, left === column ? op : MIRRORED[op], right));
    }
    case 'present':
      return filled(condition.column);
    case 'exists':
      return exists(scopeRelation(condition.scope, and(...condition.on.map(on => equals(on.theirs, on.ours))), clock));
  }
}

const MIRRORED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/**
 * Puts the more precise time type on the left, because the right operand is cast to the left one's type: a moment cut
 * to its day would equal that day.
 */
function inFinerType(
  column: ColumnExpression,
  other: ColumnExpression,
  make: (left: ColumnExpression, right: ColumnExpression) => Predicate,
): Predicate {
  return finesse(other.type) > finesse(column.type) ? make(other, column) : make(column, other);
}

function finesse(type: ColumnType): number {
  return type.kind === 'datetime' ? type.fraction : -1;
}

/**
 * Returns the rows of a scope that satisfy its own `where` and `extra`, joined with the lookups that these refer to.
 */
export function scopeRelation(
  scope: Scope,
  extra: Predicate,
  clock: Clock,
  expressions: readonly Expression[] = [],
): Relation {
  const where = and(extra, conditionPredicate(scope.where, clock));
  return bareRelation(scope, where, clock, expressions);
}

/** Likewise, but without adding the scope's `where`: the caller's `where` already includes it. */
export function bareRelation(
  scope: Scope,
  where: Predicate,
  clock: Clock,
  expressions: readonly Expression[] = [],
): Relation {
  const needed = aliasesOf({ predicates: [where], expressions });
  const joins: Join[] = [];
  for (const lookup of [...scope.lookups].reverse()) {
    if (!lookup.required && !needed.has(lookup.alias)) continue;
    const join = lookupJoin(lookup, clock);
    for (const alias of aliasesOf({ predicates: [join.on] })) needed.add(alias);
    joins.unshift(join);
  }
  return { table: scope.table, alias: scope.alias, joins, where };
}

function lookupJoin(lookup: Lookup, clock: Clock): Join {
  const joined = lookup.on.map(joinEquals);
  const on = and(...joined, conditionPredicate(lookup.where, clock));
  const kind = lookup.required ? 'inner' : 'left';
  return {
    kind,
    table: lookup.table,
    alias: lookup.alias,
    on,
    ...(lookup.pick.length > 0 ? { pick: lookup.pick } : {}),
  };
}

/** Compares both columns; ours after its text steps, and both in upper case if the join ignores case. */
export function joinEquals({ theirs, ours, steps = [], fold }: JoinColumn): Predicate {
  const text = steps.reduce((of: Expression, step) => step.sql(of), ours);
  return fold ? equals(call('upper', [theirs], UNICODE), call('upper', [text], UNICODE)) : equals(theirs, text);
}
