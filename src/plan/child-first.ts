/**
 * Turns a search on child rows around, for engines that evaluate nested relations from outside inwards. In: rows that
 * have a child row with a condition on outer columns. Out: the child rows that satisfy the condition, found by what
 * they refer to, and their parent row by its key.
 */

import { and, conjuncts, exists } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { aliasesOf } from '../sql/walk.ts';

/** `outside`: aliases of columns outside. Unchanged where not exactly one child row is looked for by them. */
export function childFirst(rows: Relation, outside: ReadonlySet<Identifier>): Relation {
  const parts = conjuncts(rows.where);
  const [linked, ...more] = parts.filter(part => mentions(part, outside));
  if (linked?.kind !== 'exists' || linked.not || more.length > 0) return rows;
  const { from: child } = linked;
  const own = declared(rows);
  if (child.joins.length > 0 || own.has(child.alias)) return rows;
  const inner = conjuncts(child.where);
  const back = inner.filter(part => mentions(part, own));
  // What links the child row to its row must not need what is outside.
  if (back.length === 0 || back.some(part => mentions(part, outside))) return rows;
  const row = { ...rows, where: and(...back, ...parts.filter(part => part !== linked)) };
  return { ...child, where: and(...inner.filter(part => !back.includes(part)), exists(row)) };
}

/** Some column of these aliases stands in it. */
export function mentions(part: Predicate, aliases: ReadonlySet<Identifier>): boolean {
  return [...aliasesOf({ predicates: [part] })].some(alias => aliases.has(alias));
}

function declared({ alias, joins }: Relation): ReadonlySet<Identifier> {
  return new Set([alias, ...joins.map(join => join.alias)]);
}
