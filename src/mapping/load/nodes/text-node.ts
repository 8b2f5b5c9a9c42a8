/**
 * Reads `join`, `template` and `rows-as-text`: text made from several values or rows, which cannot be searched. In: the
 * map. Out: a TextNode or a LinesNode.
 */
import { UNICODE } from '../../../sql/column-type.ts';
import { lineCodec } from '../../codecs/text.ts';
import type { LinesNode, Node, TextNode, ValueNode } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, itemsOf, type MapTree, map, scalar, textOf } from '../read/tree.ts';
import { absentValues, columnAbsent } from '../rows/absent-values.ts';
import { resolveColumn, type Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import { readRows } from './each.ts';
import { type Slot, textSlot } from './slot.ts';
import { readCodec, typesOf } from './via.ts';

const TEXTS: readonly string[] = ['string', 'markdown', 'uri', 'url', 'canonical', 'id', 'code'];

/** Reads `{join: [node, …], with: " "}`: the present values, joined by a text. */
export function readJoin(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  if (!isText(tree, slot, context)) return undefined;
  const parts = itemsOf(child(tree, 'join')).flatMap((part): readonly (string | Node)[] => {
    if (part.kind === 'scalar') return [part.text];
    const node = context.readNode(part, textSlot(slot), visible, context);
    return node ? [node] : [];
  });
  const separator = textOf(child(tree, 'with')) ?? ' ';
  const node: TextNode = { kind: 'text', parts, mode: 'join', separator, type: slot.type, at: tree.at };
  return guard(node, tree, visible, context);
}

/** Reads `{template: "{A} of {B|codec}"}`: absent if any of its values is absent. */
export function readTemplate(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const template = child(tree, 'template');
  if (!isText(tree, slot, context) || template?.kind !== 'scalar') return undefined;
  const fields = template.text.split(/\{([^{}]*)\}/);
  if (fields.length < 3)
    context.report.error('wrong-form', template.at, 'template without a value', { expected: '"{COL} of {COL|codec}"' });
  if (fields.some((field, i) => i % 2 === 0 && /[{}]/.test(field))) {
    context.report.error('wrong-form', template.at, 'template with a loose brace', { found: template.text });
  }
  const parts = fields.flatMap((field, i): readonly (string | Node)[] => {
    if (i % 2 === 0) return field === '' ? [] : [field];
    const [column = '', via] = field.split('|');
    const binding = map(
      {
        from: scalar(column.trim(), template.at),
        via: via === undefined ? undefined : scalar(via.trim(), template.at),
      },
      template.at,
    );
    const node = context.readNode(binding, textSlot(slot), visible, context);
    return node ? [node] : [];
  });
  const node: TextNode = { kind: 'text', parts, mode: 'template', separator: '', type: slot.type, at: tree.at };
  return guard(node, tree, visible, context);
}

/**
 * Reads `{rows-as-text: {table, on, order, …}, from: COL, with: "\n", via}`: the texts of child rows as one text. With
 * a separator that shows (`, `) they are a list of values; otherwise lines of a text, in which `N/A` is a word.
 */
export function readLines(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const written = child(tree, 'rows-as-text');
  const from = child(tree, 'from');
  if (!written || from?.kind !== 'scalar') return undefined;
  const rows = readRows(written, visible, context);
  const found = rows && resolveColumn(from.text, from.at, rows.visible, context);
  if (!found) return undefined;
  const { column } = found;
  if (column.type.kind !== 'text') {
    context.report.error('wrong-codec', from.at, `column ${column.column} is no text`);
    return undefined;
  }
  const codec = readCodec(child(tree, 'via'), [UNICODE], typesOf(slot), tree.at, context);
  if (!codec) return undefined;
  const separator = textOf(child(tree, 'with')) ?? '\n';
  const { at } = tree;
  const isList = /\S/.test(separator);
  const lines = lineCodec(separator !== '');
  const absent = isList ? absentValues([found], lines, [], context) : columnAbsent(found, context);
  const line: ValueNode = { kind: 'value', from: [column], codec: lines, absent, type: 'string', at: from.at };
  const each = { kind: 'each', from: rows.from, item: line, type: 'string', at } as const;
  const node: LinesNode = { kind: 'lines', each, line, separator, isList, codec, type: slot.type, at };
  return guard(node, tree, visible, context);
}

function isText(tree: MapTree, slot: Slot, context: Context): boolean {
  if (TEXTS.includes(slot.type)) return true;
  context.report.error('wrong-element', tree.at, `${slot.path} is a ${slot.type} and no text`);
  return false;
}
