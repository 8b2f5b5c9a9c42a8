/**
 * Reads maps of elements. In: a map whose keys are elements of a FHIR type. Out: an ObjectNode with its members in the
 * order of the specification and its carrier among its `needs`; a constant if nothing in it depends on a row.
 */
import { childOf, elementsOf, isPrimitive } from '../../../r4/definitions.ts';
import type { Json, Member, NamedNode, Node, ObjectNode } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { NODE_DIRECTIVES, NODE_MODIFIERS } from '../read/schema.ts';
import { reportMisspelt } from '../read/shape.ts';
import { nearest } from '../read/spelling.ts';
import { child, type Entry, entriesOf, itemsOf, type MapTree, scalarsOf, type Tree } from '../read/tree.ts';
import type { Visible } from '../rows/columns.ts';
import { ALWAYS } from '../rows/condition.ts';
import { guard, withCondition } from '../rows/guard.ts';
import { makeChoice } from './first.ts';
import { checkMembers, checkRequired, type Members } from './required.ts';
import { childSlot, type Slot } from './slot.ts';

const DIRECTIVES: ReadonlySet<string> = new Set(['if', 'needs', 'elements']);
/** Keys that apply to the object as a whole. Within `elements` they have no such meaning. */
const BESIDE: ReadonlySet<string> = new Set(['if', 'needs']);
const MISPLACED: ReadonlySet<string> = new Set([...NODE_DIRECTIVES, ...NODE_MODIFIERS]);

/** Reads an object within a resource. */
export function readObject(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  if (isPrimitive(slot.type)) {
    const misspelt = tree.entries.find(({ key }) => nearest(key, NODE_DIRECTIVES) !== undefined);
    if (reportMisspelt(tree, misspelt, NODE_DIRECTIVES, context.report)) return undefined;
    context.report.error('wrong-element', tree.at, `${slot.path} is a ${slot.type} and has no elements`, {
      expected: 'a constant or a binding {from: COL}',
    });
    return undefined;
  }
  const own = tree.entries.filter(entry => !DIRECTIVES.has(entry.key));
  const read = readMembers([...own, ...entriesOf(child(tree, 'elements'))], slot, visible, context);
  const { members } = read;
  if (members.length === 0) {
    if (own.length === 0) context.report.error('wrong-element', tree.at, `no elements for ${slot.path}`);
    return undefined;
  }
  if (slot.type === 'Reference') reportMadeByHand(members, context);
  const needs = scalarsOf(child(tree, 'needs'));
  checkMembers(needs, read, slot, context);
  const names = [...new Set([...needs.map(need => need.text), ...carrierOf(slot.type, members)])];
  checkRequired(read, names, slot, tree.at, 'the object', context);
  return guard(fold({ kind: 'object', members, needs: names, type: slot.type, at: tree.at }), tree, visible, context);
}

/** Warns of a reference that is put together as text: it also points to deleted resources, and no search follows it. */
function reportMadeByHand(members: readonly Member[], context: Context): void {
  for (const member of members) {
    if (member.kind !== 'element' || member.name !== 'reference' || member.node.kind === 'constant') continue;
    context.report.warning('wrong-reference', member.node.at, 'a reference that no search or include can follow', {
      expected: '{ref: mapping, on: {THEIRS: ours}}',
    });
  }
}

/** Reads the members of a resource. The caller checks the needs, because it knows those of the mapping. */
export function readRootMembers(tree: Tree | undefined, slot: Slot, visible: Visible, context: Context): Members {
  const entries = entriesOf(tree).filter(({ key, at }) => {
    if (key !== 'id' && key !== 'resourceType') return true;
    context.report.error('unknown-element', at, `\`${key}\` is no element of a mapping`, {
      expected: key === 'id' ? '`id:` of the mapping' : '`resource:`',
    });
    return false;
  });
  return readMembers(entries, slot, visible, context);
}

function readMembers(entries: readonly Entry[], slot: Slot, visible: Visible, context: Context): Members {
  const written = new Set(
    entries.flatMap(({ key, value }) =>
      key === 'first' ? itemsOf(value).flatMap(i => entriesOf(i).map(e => e.key)) : [key],
    ),
  );
  const strange = entries.filter(entry => isStrange(entry, slot));
  reportStrange(strange, slot, context);
  const members = entries.flatMap((entry): readonly Member[] => {
    if (strange.length > 1 && strange.includes(entry)) return [];
    if (entry.key === 'first') return readChoices(entry, slot, visible, context);
    return readNamed(entry, slot, visible, context).map(named => ({ kind: 'element', ...named }));
  });
  return { members: inOrder(members, slot.type), written };
}

/** True if a key is neither an element of the type nor a misspelling of one. */
function isStrange({ key }: Entry, slot: Slot): boolean {
  if (key === 'first' || BESIDE.has(key) || MISPLACED.has(key)) return false;
  if (childOf(slot.type, key) || besideSlot(slot, key)) return false;
  return nearest(key, namesIn(slot)) === undefined;
}

/** Reports several unknown keys as one problem: probably the line with their parent element is missing. */
function reportStrange(strange: readonly Entry[], slot: Slot, context: Context): void {
  const [first] = strange;
  if (!first || strange.length === 1) return;
  context.report.error('unknown-element', first.at, `unknown elements of ${slot.type}`, {
    expected: 'their parent element in a line above',
    found: strange.map(({ key }) => key).join(', '),
  });
}

/** Returns the keys allowed beside the elements of a type. */
function namesIn(slot: Slot): readonly string[] {
  const names = elementsOf(slot.type).flatMap(element => [...element.jsonNames.keys()]);
  return [...names, ...NODE_DIRECTIVES, 'first', 'insert'];
}

function readNamed({ key, value, at }: Entry, slot: Slot, visible: Visible, context: Context): readonly NamedNode[] {
  const found = childOf(slot.type, key);
  const inner = found ? childSlot(slot, key, found) : besideSlot(slot, key);
  // The check of the shape has reported a directive that is not allowed here.
  if (!found && MISPLACED.has(key)) return [];
  if (!inner) {
    context.report.error(
      'unknown-element',
      at,
      found ? `${slot.path}.${key} is a choice of types` : `unknown element of ${slot.type}`,
      {
        found: key,
        ...(found
          ? { expected: [...found.element.jsonNames.keys()].join(' or ') }
          : BESIDE.has(key)
            ? { expected: `\`${key}\` beside \`elements\`` }
            : { among: namesIn(slot) }),
      },
    );
    return [];
  }
  const node = context.readNode(value, inner, visible, context);
  return node ? [{ name: key, node }] : [];
}

/**
 * Returns the slot of `_birthDate`: id and extensions of a primitive. Repeating primitives have none, because the items
 * of both arrays would have to correspond.
 */
function besideSlot(slot: Slot, key: string): Slot | undefined {
  const found = key.startsWith('_') ? childOf(slot.type, key.slice(1)) : undefined;
  if (found?.type === undefined || !isPrimitive(found.type) || found.element.max !== '1') return undefined;
  const { element } = found;
  return {
    path: `${slot.path}.${key}`,
    type: 'Element',
    element,
    place: 'single',
    parent: slot.type,
    bound: undefined,
  };
}

/** Reads `first: [{valueQuantity: …}, {valueString: …}]`: the elements of the first present alternative. */
function readChoices(entry: Entry, slot: Slot, visible: Visible, context: Context): readonly Member[] {
  const alternatives = itemsOf(entry.value).flatMap((item): readonly (readonly NamedNode[])[] => {
    if (item.kind !== 'map') {
      context.report.error('wrong-element', item.at, 'an alternative among elements is a map', {
        expected: '{element: node}',
      });
      return [];
    }
    const condition = child(item, 'if');
    const guardedBy = condition ? context.readCondition(condition, visible, context) : ALWAYS;
    const nodes = item.entries
      .filter(({ key }) => key !== 'if')
      .flatMap(e => readNamed(e, slot, visible, context))
      .map(({ name, node }) => ({ name, node: withCondition(node, guardedBy) }));
    return nodes.length > 0 ? [nodes] : [];
  });
  return alternatives.length > 0 ? [makeChoice(alternatives, context)] : [];
}

/** Sorts members into the order of the specification. A choice takes the position of its first element. */
function inOrder(members: readonly Member[], type: string): readonly Member[] {
  const order = new Map(
    elementsOf(type).flatMap((element, i) =>
      [...element.jsonNames.keys()].flatMap(name => [
        [name, i],
        [`_${name}`, i],
      ]),
    ),
  );
  const rank = (member: Member): number =>
    order.get(member.kind === 'element' ? member.name : (member.alternatives[0]?.[0]?.name ?? '')) ?? 0;
  return [...members].sort((a, b) => rank(a) - rank(b));
}

/** Folds an object of unconditional constants into one constant. */
function fold(node: ObjectNode): Node {
  const json: Record<string, Json> = {};
  for (const member of node.members) {
    if (member.kind !== 'element' || member.node.kind !== 'constant' || member.node.if) return node;
    json[member.name] = member.node.json;
  }
  return { kind: 'constant', json, type: node.type, at: node.at };
}

const CARRIERS: Readonly<Record<string, string>> = {
  Coding: 'code',
  Quantity: 'value',
  SimpleQuantity: 'value',
  MoneyQuantity: 'value',
  Age: 'value',
  Count: 'value',
  Distance: 'value',
  Duration: 'value',
  Money: 'value',
  Identifier: 'value',
  ContactPoint: 'value',
  Annotation: 'text',
};

/**
 * Finds the carrier of an object: the element without which the object means nothing and does not exist. In: a type and
 * the members written. Out: the names to add to the object's `needs`; none if the carrier is not among the members.
 * docs/mapping-language.md, "map of elements"
 */
export function carrierOf(type: string, members: readonly Member[]): readonly string[] {
  const names = members.flatMap(member => (member.kind === 'element' ? [member.name] : []));
  if (type === 'Extension') {
    const value = names.find(name => name.startsWith('value'));
    return value !== undefined ? [value] : names.filter(name => name === 'extension');
  }
  const carrier = CARRIERS[type];
  return names.filter(name => name === carrier);
}
