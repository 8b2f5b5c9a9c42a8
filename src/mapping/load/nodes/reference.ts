/**
 * Reads references. In: `{ref, on, exists, as, display …}`. Out: a RefNode per target mapping; several as a FirstNode.
 * https://hl7.org/fhir/R4/references.html
 */
import { childOf } from '../../../r4/definitions.ts';
import type { NamedNode, Node, RefNode } from '../../model.ts';
import type { Context, Target } from '../pack/context.ts';
import { child, type MapTree, scalarsOf, textOf } from '../read/tree.ts';
import type { Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import { readOn } from '../rows/join.ts';
import { makeFirst } from './first.ts';
import { childSlot, type Slot } from './slot.ts';

const FURTHER = ['display', 'identifier', 'type'] as const;
const ADDRESSES: readonly string[] = ['uri', 'url', 'canonical'];

/** Reads a reference to the resource that another mapping makes from the row where theirs = ours. */
export function readReference(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const as = textOf(child(tree, 'as')) === 'url' ? 'url' : 'reference';
  const fits = as === 'url' ? ADDRESSES.includes(slot.type) : slot.type === 'Reference';
  if (!fits) {
    context.report.error('wrong-reference', tree.at, `${slot.path} is a ${slot.type} and takes no reference`, {
      ...(ADDRESSES.includes(slot.type) ? { expected: '`as: url`' } : {}),
    });
    return undefined;
  }
  const members = as === 'url' ? [] : furtherMembers(tree, slot, visible, context);
  const nodes = targetsOf(tree, slot, as, context).flatMap(
    target => readTarget(tree, target, as, members, slot, visible, context) ?? [],
  );
  const [only] = nodes;
  if (!only) return undefined;
  return guard(nodes.length === 1 ? only : makeFirst(nodes, slot, tree, context), tree, visible, context);
}

/** Finds the mappings that `ref` names. A name with variants stands for all of them. */
function targetsOf(tree: MapTree, slot: Slot, as: 'url' | 'reference', context: Context): readonly Target[] {
  const { report, targets } = context;
  return scalarsOf(child(tree, 'ref')).flatMap(({ text, at }) => {
    if (context.unserved.has(text))
      report.error('wrong-reference', at, 'reference to a mapping that is not served', { found: text });
    const named = targets.named(text);
    const isLost = context.broken.has(text) || context.broken.has(text.replace(/\..*$/, ''));
    if (named.length === 0 && !isLost && !context.unserved.has(text)) {
      report.error('unknown-name', at, 'reference to an unknown mapping', { found: text, among: targets.names() });
    }
    const allowed = slot.element?.targets ?? [];
    return named.filter(({ resource }) => {
      if (as === 'url' || allowed.length === 0 || allowed.includes(resource)) return true;
      report.error('wrong-reference', at, `${slot.path} cannot refer to a ${resource}`, {
        expected: allowed.join(' or '),
        found: resource,
      });
      return false;
    });
  });
}

function readTarget(
  tree: MapTree,
  target: Target,
  as: 'url' | 'reference',
  members: readonly NamedNode[],
  slot: Slot,
  visible: Visible,
  context: Context,
): Node | undefined {
  const written = child(tree, 'on');
  const on = readOn(written, target.visible, visible, context);
  if (on.length === 0) return undefined;
  const exists = textOf(child(tree, 'exists')) !== 'false';
  if (!exists) {
    const known = new Set(on.map(({ theirs }) => `${theirs.alias}.${theirs.column}`));
    const missing = [...target.idColumns].filter(column => !known.has(column));
    if (missing.length > 0) {
      context.report.error(
        'wrong-reference',
        written?.at ?? tree.at,
        `with \`exists: false\` the id of ${target.name} is made of \`on\` alone`,
        {
          expected: `all of ${[...target.idColumns].join(', ')} on the left`,
        },
      );
    }
  }
  const node: RefNode = { kind: 'ref', target: target.name, on, exists, as, members, type: slot.type, at: tree.at };
  return node;
}

function furtherMembers(tree: MapTree, slot: Slot, visible: Visible, context: Context): readonly NamedNode[] {
  return FURTHER.flatMap((name): readonly NamedNode[] => {
    const written = child(tree, name);
    const found = written && childOf('Reference', name);
    const inner = found && childSlot(slot, name, found);
    const node = written && inner && context.readNode(written, inner, visible, context);
    return node ? [{ name, node }] : [];
  });
}
