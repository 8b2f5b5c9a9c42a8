/**
 * Turns a search on child rows inside out, for engines that evaluate nested relations from outside inwards. In: rows
 * that have a child row with a condition on outer columns. Out: the child rows that satisfy the condition, found by the
 * columns that they refer to, with their parent row found by its key.
 */

import { and, conjuncts, exists } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { aliasesOf } from '../sql/walk.ts';

/**
 * Returns the relation turned around. `outside`: aliases of outer columns. Returns it unchanged unless exactly one
 * child row is compared with them.
 */
export function childFirst(rows: Relation, outside: ReadonlySet<Identifier>): Relation {
  const parts = conjuncts(rows.where);
  const [linked, ...more] = parts.filter(part => mentions(part, outside));
  if (linked?.kind !== 'exists' || linked.not || more.length > 0) return rows;
  const { from: child } = linked;
  const own = declared(rows);
  // Lookups of the child row come along, if they need nothing of its row.
  if ([...declared(child)].some(alias => own.has(alias))) return rows;
  if (child.joins.some(({ on }) => mentions(on, own))) return rows;
  const inner = conjuncts(child.where);
  const back = inner.filter(part => mentions(part, own));
  // The condition between the child row and its parent row must not need outer columns.
  if (back.length === 0 || back.some(part => mentions(part, outside))) return rows;
  const row = { ...rows, where: and(...back, ...parts.filter(part => part !== linked)) };
  return { ...child, where: and(...inner.filter(part => !back.includes(part)), exists(row)) };
}

/** True if the condition uses a column of one of these aliases. */
export function mentions(part: Predicate, aliases: ReadonlySet<Identifier>): boolean {
  return [...aliasesOf({ predicates: [part] })].some(alias => aliases.has(alias));
}

function declared({ alias, joins }: Relation): ReadonlySet<Identifier> {
  return new Set([alias, ...joins.map(join => join.alias)]);
}
