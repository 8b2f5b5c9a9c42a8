/**
 * Makes the node of a binding. In: `{from, via, none, else, if}` and its slot. Out: a ValueNode; for a Coding or
 * CodeableConcept bound to a code map the object with code, system and display.
 */
import { isPrimitive } from '../../../r4/definitions.ts';
import type { Node } from '../../model.ts';
import { codedNode } from '../codes/coded.ts';
import { tableCodeOf } from '../codes/table-code.ts';
import type { Context } from '../pack/context.ts';
import { child, type MapTree, type ScalarTree, scalarsOf } from '../read/tree.ts';
import { resolveColumn, type Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import { valueNode } from './binding-value.ts';
import { makeFirst } from './first.ts';
import { type Slot, singleSlot } from './slot.ts';
import { codeMapIn, parseVia, readCodec, typesOf } from './via.ts';

/** Reads a binding with its `if`. `else` becomes the second alternative. */
export function readBinding(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const bound = readBound(tree, slot, visible, context);
  const otherwise = child(tree, 'else');
  if (!otherwise) return bound && guard(bound, tree, visible, context);
  const alternative = context.readNode(otherwise, singleSlot(slot), visible, context);
  if (!bound || !alternative) return undefined;
  return makeFirst([guard(bound, tree, visible, context), alternative], slot, tree, context);
}

function readBound(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const names = scalarsOf(child(tree, 'from'));
  const found = names.flatMap(({ text, at }) => resolveColumn(text, at, visible, context) ?? []);
  if (found.length < names.length || found.length === 0) return undefined;
  const via = child(tree, 'via');
  const parsed = via && parseVia(via, context);
  if (via && !parsed) return undefined;
  const named = parsed && codeMapIn(parsed, tree.at);
  const none = scalarsOf(child(tree, 'none'));
  const [column] = found;
  if (named && column && found.length === 1) {
    const { map } = named;
    const binding = { named, column, none, tree, slot, context };
    return map.kind === 'table' ? tableCodeOf({ ...binding, map }, visible) : codedNode({ ...binding, map });
  }
  if (!isPrimitive(slot.type)) {
    const isCoded = slot.type === 'Coding' || slot.type === 'CodeableConcept';
    context.report.error('wrong-element', tree.at, `${slot.path} is a ${slot.type} and cannot be bound to a column`, {
      expected: isCoded ? '`via:` a code map, or a map of elements' : 'a map of elements',
    });
    return undefined;
  }
  const types = found.map(resolved => resolved.column.type);
  const fhirTypes = via || !isKey(slot) ? typesOf(slot) : KEY_TYPES;
  const codec = readCodec(via, types, fhirTypes, tree.at, context);
  const isRaw = !parsed?.last || parsed.last.name === 'code' || parsed.last.name === 'text';
  if (codec && isRaw) warnOfBinding(slot, names, context);
  return codec && valueNode(found, codec, none, tree, slot, context);
}

/**
 * True for Identifier.value. Searches look it up, so it is a key: trimmed on the right only, and served by an index.
 */
function isKey({ parent, element }: Slot): boolean {
  return parent === 'Identifier' && element?.name === 'value';
}

const KEY_TYPES: readonly string[] = ['code'];

/** Warns of a column without a code map under a required binding, because the column may hold any code. */
function warnOfBinding({ bound, path }: Slot, names: readonly ScalarTree[], { report }: Context): void {
  const [name] = names;
  if (!bound || !name || bound.systems.some(system => system.codes === undefined)) return;
  report.warning(
    'required-binding',
    name.at,
    `column ${name.text} may hold codes outside the required binding of ${path}`,
    {
      expected: '`via:` a code map',
    },
  );
}
