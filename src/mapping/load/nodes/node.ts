/**
 * Reads a node. In: a Tree and its slot. Out: a node of the form that the keys of the tree call for; always a list
 * under a repeating element.
 */
import type { Json, ListNode, Node } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, itemsOf, type MapTree, type Tree } from '../read/tree.ts';
import type { Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import { LATEST, readLatest } from '../rows/latest.ts';
import { readBinding } from './binding.ts';
import { readConstant } from './constant.ts';
import { readEach } from './each.ts';
import { makeFirst } from './first.ts';
import { readObject } from './object.ts';
import { readReference } from './reference.ts';
import { itemSlot, type Slot, singleSlot } from './slot.ts';
import { readSql } from './sql.ts';
import { readJoin, readLines, readTemplate } from './text-node.ts';

/** Reads one node; undefined if a reported problem leaves nothing to build on. */
export function readNode(tree: Tree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  if (slot.place === 'list') {
    const items = itemsOf(tree).flatMap(item => readOne(item, itemSlot(slot), visible, context) ?? []);
    return items.length === 0 ? undefined : foldList({ kind: 'list', items, type: slot.type, at: tree.at });
  }
  return readOne(tree, slot, visible, context);
}

/** Folds a list of constants into one constant. */
function foldList(node: ListNode): Node {
  const json: Json[] = [];
  for (const item of node.items) {
    if (item.kind !== 'constant' || item.if) return node;
    json.push(item.json);
  }
  return { kind: 'constant', json, type: node.type, at: node.at };
}

function readOne(tree: Tree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  if (tree.kind === 'scalar') {
    const json = readConstant(tree, slot, context);
    return json === undefined ? undefined : { kind: 'constant', json, type: slot.type, at: tree.at };
  }
  if (tree.kind === 'list') {
    const where =
      slot.place === 'item' ? `a list within the list of ${slot.path}` : `a list under ${slot.path}, which occurs once`;
    context.report.error('wrong-element', tree.at, where);
    return undefined;
  }
  const has = (key: string): boolean => child(tree, key) !== undefined;
  if (has('const')) return readConditionalConstant(tree, slot, visible, context);
  if (has(LATEST)) return readLatest(tree, slot, visible, context);
  if (has('rows-as-text')) return readLines(tree, slot, visible, context);
  if (has('from')) return readBinding(tree, slot, visible, context);
  if (has('each')) return readEach(tree, slot, visible, context);
  if (has('ref')) return readReference(tree, slot, visible, context);
  if (has('join')) return readJoin(tree, slot, visible, context);
  if (has('template')) return readTemplate(tree, slot, visible, context);
  if (has('sql')) return readSql(tree, slot, visible, context);
  if (has('first') && tree.entries.every(({ key }) => key === 'first' || key === 'if')) {
    return readFirst(tree, slot, visible, context);
  }
  return readObject(tree, slot, visible, context);
}

/** Reads `{const: value, if: cond}`; the value may be a map or a list of constants. */
function readConditionalConstant(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const content = child(tree, 'const');
  const node = content && context.readNode(content, slot, visible, context);
  if (!node) return undefined;
  if (node.kind !== 'constant') {
    context.report.error('wrong-element', content.at, '`const` holds constants only');
    return undefined;
  }
  return guard(node, tree, visible, context);
}

/** Reads `first`: the first alternative that is present. */
function readFirst(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const alternatives = itemsOf(child(tree, 'first')).flatMap(
    item => context.readNode(item, singleSlot(slot), visible, context) ?? [],
  );
  if (alternatives.length === 0) return undefined;
  return guard(makeFirst(alternatives, slot, tree, context), tree, visible, context);
}
