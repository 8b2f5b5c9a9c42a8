/** V3: alternatives in their order. In: nodes. Out: a FirstNode; alternatives that no row reaches are reported. */
import type { FirstNode, Node } from '../model.ts';
import { isNeverAbsent } from './absence.ts';
import type { Context } from './context.ts';
import type { Slot } from './slot.ts';
import type { Tree } from './tree.ts';

/** A FirstNode of checked alternatives: none may follow one that is never absent. */
export function makeFirst(alternatives: readonly Node[], slot: Slot, tree: Tree, context: Context): FirstNode {
  const end = alternatives.findIndex(alternative => isNeverAbsent(alternative, context.certain));
  const unreachable = end >= 0 ? alternatives[end + 1] : undefined;
  if (unreachable) {
    context.report.error(unreachable.at, 'alternative that is never reached: the one before it is never absent');
  }
  return { kind: 'first', alternatives, type: slot.type, at: tree.at };
}
