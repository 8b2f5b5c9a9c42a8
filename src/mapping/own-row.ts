/**
 * Checks whether a resource depends on one row only, so that the row's timestamp is the time of the resource's last
 * change. In: a mapping. Out: false if it reads other rows (lookups, children, referenced rows, conditions on them),
 * rows of a view, which may use any table, or the present instant.
 */

import { memoized } from '../common/caches.ts';
import type { Identifier } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import { childrenOf } from './children.ts';
import type { Condition, Mapping, Node } from './model.ts';
import { scopesOf } from './piece-lookups.ts';

/**
 * True if the resource depends on one row only. Other rows of the mapping's own table count as other rows. A required
 * row whose stamp is among those of `changed` counts as part of the resource: it cannot change without a later stamp,
 * nor disappear without the resource.
 */
export const readsOneRow = memoized((mapping: Mapping): boolean => {
  const { source, root, needs, usesNow } = mapping;
  const stamped = stampedAliases(mapping);
  return (
    !usesNow &&
    stamped.has(source.alias) &&
    !source.isView &&
    source.lookups.every(
      ({ alias, required, pick, isView }) => required && pick.length === 0 && stamped.has(alias) && !isView,
    ) &&
    source.onePer.length === 0 &&
    staysInRow(source.where) &&
    [root, ...needs].every(nodeStaysInRow)
  );
});

/** Returns the aliases whose columns `changed` reads. */
function stampedAliases({ changed }: Mapping): ReadonlySet<Identifier> {
  const found = new Set<Identifier>();
  walk({ expressions: changed?.from ?? [] }, { column: ({ alias }) => void found.add(alias) });
  return found;
}

/** Returns the tables of child rows whose changes leave no stamp in the resource. */
export function childrenWithoutStamp(mapping: Mapping): readonly string[] {
  const { source, root } = mapping;
  const stamped = stampedAliases(mapping);
  const seen = new Set<string>(source.lookups.filter(({ alias }) => stamped.has(alias)).map(({ table }) => table.name));
  return [...new Set(childTables(root))].filter(name => !seen.has(name));
}

function childTables(node: Node): readonly string[] {
  const own = node.kind === 'each' ? scopesOf(node.from).map(({ table }) => table.name) : [];
  return [...own, ...childrenOf(node).flatMap(childTables)];
}

function nodeStaysInRow(node: Node): boolean {
  if (node.kind === 'ref' || (node.kind === 'each' && scopesOf(node.from).length > 0)) return false;
  return (node.if === undefined || staysInRow(node.if)) && [...childrenOf(node)].every(nodeStaysInRow);
}

function staysInRow(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.every(staysInRow);
    case 'none':
      return staysInRow(condition.of);
    default:
      return condition.kind !== 'exists';
  }
}
