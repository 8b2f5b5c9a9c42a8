/**
 * Makes a Mapping from a draft. In: a draft whose rows and id are known, and all targets. Out: the mapping with its
 * element tree.
 */
import type { FirstNode, Mapping, Member, Node, ObjectNode, ValueNode } from '../../model.ts';
import { withMeta } from '../nodes/meta.ts';
import { readRootMembers } from '../nodes/object.ts';
import { checkMembers, checkRequired, namesOf } from '../nodes/required.ts';
import { rootSlot, type Slot } from '../nodes/slot.ts';
import { child, map, type ScalarTree, scalarsOf, textOf } from '../read/tree.ts';
import { checkMixedRows } from '../rows/mixed-rows.ts';
import { readNumber } from '../rows/number.ts';
import type { OpenDraft } from '../rows/source.ts';
import type { Context } from './context.ts';

/** Resolves the elements of a draft. Reports problems and leaves out their elements. */
export function resolveMapping(open: OpenDraft, ordinal: number, context: Context): Mapping {
  const { draft, source, visible, id } = open;
  const { resource } = open.target;
  const slot = rootSlot(resource);
  const elements = withMeta(draft.tree, resource, context);
  const read = readRootMembers(elements, slot, visible, context);
  const { members } = read;
  const root: ObjectNode = { kind: 'object', members, needs: [], type: resource, at: elements?.at ?? draft.at };
  const needs = scalarsOf(child(draft.tree, 'needs'));
  const whole = needs.map(need => ({ ...need, text: need.text.replace(/\.\d+$/, '') }));
  // A mapping without `elements` has been reported.
  if (child(draft.tree, 'elements')?.kind === 'map') {
    checkMembers(whole, read, slot, context);
    const names = whole.map(need => need.text);
    checkRequired(read, names, slot, draft.at, 'the mapping', context);
  }
  const changed = changedNode(root);
  const number = readNumber(child(draft.tree, 'number'), open.visible, context);
  const none = child(child(draft.tree, 'compartment'), 'none');
  const outside = textOf(none);
  if (none && outside?.trim() === '') context.report.error('missing-key', none.at, 'the reason is missing');
  const deletedAt = deletedNode(open, slot, context) ?? changed;
  checkMixedRows(source, deletedAt && deletedAt !== changed ? [root, deletedAt] : [root], context.report);
  return {
    name: draft.name,
    resource,
    group: draft.group,
    ordinal,
    source,
    id,
    ...(number ? { number } : {}),
    root,
    needs: needs.flatMap(need => neededPart(need, members, context) ?? []),
    ...(changed ? { changed } : {}),
    ...(open.deleted ? { deleted: { source: open.deleted, at: deletedAt } } : {}),
    ...(outside === undefined ? {} : { outside }),
    usesNow: context.now.used,
    at: draft.at,
  };
}

/** Returns meta.lastUpdated, if it comes from columns. */
function changedNode(root: ObjectNode): ValueNode | undefined {
  const node = lastUpdatedNode(root.members);
  return node?.kind === 'value' ? node : undefined;
}

/** Reads `deleted-at` as if it were meta.lastUpdated. */
function deletedNode({ draft, visible }: OpenDraft, slot: Slot, context: Context): Node | undefined {
  const changed = child(child(draft.tree, 'source'), 'deleted-at');
  if (!changed) return undefined;
  const { at } = changed;
  const elements = withMeta(map({ elements: map({}, at), source: map({ changed }, at) }, at), slot.type, context);
  return lastUpdatedNode(readRootMembers(elements, slot, visible, context).members);
}

function lastUpdatedNode(members: readonly Member[]): Node | undefined {
  const meta = elementNode(members, 'meta');
  return meta?.kind === 'object' ? elementNode(meta.members, 'lastUpdated') : undefined;
}

function elementNode(members: readonly Member[], name: string): Node | undefined {
  const member = members.find(m => m.kind === 'element' && m.name === name);
  return member?.kind === 'element' ? member.node : undefined;
}

/**
 * Returns the node of a needed element. `name.0` is one of the items that the mapping writes for it, counted from 0.
 */
function neededPart(need: ScalarTree, members: readonly Member[], context: Context): Node | undefined {
  const [, name, index] = /^(.*)\.(\d+)$/.exec(need.text) ?? [];
  if (name === undefined || index === undefined) return neededNode(need, members, context);
  const list = neededNode({ ...need, text: name }, members, context);
  const items = list?.kind === 'list' ? list.items : [];
  const item = items[Number(index)];
  if (list && !item) {
    context.report.error('unknown-name', need.at, `no such item of ${name}`, {
      found: need.text,
      expected: `a number below ${items.length}`,
    });
  }
  return item;
}

/** Returns the node of a needed element; for a choice named without type, the first of its alternatives. */
function neededNode(need: ScalarTree, members: readonly Member[], context: Context): Node | undefined {
  for (const member of members) {
    if (member.kind === 'element') {
      if (member.name === need.text) return member.node;
      continue;
    }
    if (!namesOf(member).some(name => name === need.text)) continue;
    const [first, ...others] = member.alternatives;
    const nodes = member.alternatives.flatMap(alternative =>
      alternative.filter(n => n.name === need.text).map(n => n.node),
    );
    if (others.length > 0 && !(nodes.length === 1 && first?.some(n => n.name === need.text))) {
      context.report.error('wrong-element', need.at, 'a later alternative of `first` cannot be needed by itself', {
        expected: `\`${need.text}: { first: [ … ] }\`: alternatives of the element itself`,
        found: need.text,
      });
    }
    const [node] = nodes;
    if (!node) return undefined;
    const choice: FirstNode = { kind: 'first', alternatives: nodes, type: node.type, at: need.at };
    return nodes.length === 1 ? node : choice;
  }
  return undefined;
}
