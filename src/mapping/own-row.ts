/**
 * Whether all that a resource says stands in one row, so that the row's stamp is the time of the resource's last change. In: a mapping.
 * Out: no where it looks into other rows: lookups, children, referenced rows, conditions on them, and the present instant.
 */
import { childrenOf } from './children.ts';
import type { Condition, Mapping, Node } from './model.ts';

const known = new WeakMap<Mapping, boolean>();

/** Rows of the mapping's own table count as other rows too. */
export function readsOneRow(mapping: Mapping): boolean {
  const before = known.get(mapping);
  if (before !== undefined) return before;
  const { source, root, needs, usesNow } = mapping;
  const one =
    !usesNow &&
    source.lookups.length === 0 &&
    source.onePer.length === 0 &&
    staysInRow(source.where) &&
    [root, ...needs].every(nodeStaysInRow);
  known.set(mapping, one);
  return one;
}

function nodeStaysInRow(node: Node): boolean {
  if (node.kind === 'ref' || (node.kind === 'each' && node.from.kind === 'rows')) return false;
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
