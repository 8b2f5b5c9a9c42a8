/**
 * Reads alternatives of an element, or among the elements of an object. In: nodes in order. Out: a FirstNode or a
 * choice; alternatives that no row can reach are reported.
 */
import type { FirstNode, Member, NamedNode, Node } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import type { Tree } from '../read/tree.ts';
import { isNeverAbsent } from './required.ts';
import type { Slot } from './slot.ts';

/** Makes a FirstNode. Reports an alternative after one that is never absent. */
export function makeFirst(alternatives: readonly Node[], slot: Slot, tree: Tree, context: Context): FirstNode {
  reportUnreached(
    alternatives.map(alternative => [alternative]),
    context,
  );
  return { kind: 'first', alternatives, type: slot.type, at: tree.at };
}

/** Makes a choice among elements: the first alternative with at least one present element is used. */
export function makeChoice(alternatives: readonly (readonly NamedNode[])[], context: Context): Member {
  reportUnreached(
    alternatives.map(named => named.map(({ node }) => node)),
    context,
  );
  return { kind: 'choice', alternatives };
}

function reportUnreached(alternatives: readonly (readonly Node[])[], context: Context): void {
  // A table that was not found may be the reason for an absence.
  if (context.lost.size > 0) return;
  const end = alternatives.findIndex(nodes => nodes.some(node => isNeverAbsent(node, context.certain)));
  const [unreached] = (end >= 0 && alternatives[end + 1]) || [];
  // A condition that could not be read may be the reason for an absence.
  if (!unreached || context.report.problems().some(({ severity }) => severity === 'error')) return;
  context.report.error('unused', unreached.at, 'alternative that is never reached: the one before it is never absent');
}
