/**
 * A value of columns through a codec. In: resolved columns, the codec, `none:`. Out: a ValueNode with its absence
 * rules.
 */
import { isPrimitive } from '../../../r4/definitions.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { ValueNode } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import type { MapTree, ScalarTree } from '../read/tree.ts';
import { absentValues } from '../rows/absent-values.ts';
import type { Resolved } from '../rows/columns.ts';
import type { Slot } from './slot.ts';
import { isTotal } from './total.ts';

/** A value through a codec, with the raw values that mean "no value". */
export function valueNode(
  found: readonly Resolved[],
  codec: Codec,
  none: readonly ScalarTree[],
  tree: MapTree,
  slot: Slot,
  context: Context,
): ValueNode {
  const columns = found.map(resolved => resolved.column);
  const read = codec.reads?.(columns);
  const [sentinel] = none;
  if (read && sentinel) {
    context.report.error('wrong-codec', sentinel.at, `${codec.label} takes no \`none:\``, {
      expected: '`if:` with a condition on the column',
    });
  }
  const absent = read ? [] : absentValues(found, codec, none, context);
  const from = read ?? columns;
  const type = isPrimitive(slot.type) && slot.element ? slot.type : (codec.yields[0] ?? slot.type);
  const node: ValueNode = { kind: 'value', from, codec, absent, type, at: tree.at };
  if (
    absent.length === 0 &&
    isTotal(
      codec,
      from.map(column => column.type),
      !read && found.every(resolved => resolved.certain),
    )
  )
    context.certain.add(node);
  return node;
}
