/**
 * Makes the node of a value that columns give through a codec. In: resolved columns, the codec, `none:`. Out: a
 * ValueNode with its absence rules.
 */
import { isPrimitive } from '../../../r4/definitions.ts';
import type { ColumnType } from '../../../sql/column-type.ts';
import type { SqlValue } from '../../../sql/expression.ts';
import type { CodeMap, Facet } from '../../codecs/code-map.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { ValueNode } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import type { MapTree, ScalarTree } from '../read/tree.ts';
import { absentReads, absentValues } from '../rows/absent-values.ts';
import type { Resolved } from '../rows/columns.ts';
import type { Slot } from './slot.ts';

/** Makes the node of a value with the raw values that mean "no value". */
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
  const absent = read ? absentReads(found, codec, context) : absentValues(found, codec, none, context);
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

/**
 * True if a codec certainly gives a value for every raw value. In: a codec, the column types, and whether the columns
 * are never NULL (`certain`). Always false for text and binary. It tries the raw values of the type that are most
 * likely to give no value.
 */
export function isTotal(codec: Codec, types: readonly ColumnType[], certain: boolean): boolean {
  const [type] = types;
  if (types.length !== 1 || !type || type.kind === 'text' || type.kind === 'binary') return false;
  const samples: readonly SqlValue[] = [...edgesOf(type), ...(certain ? [] : [null])];
  return samples.every(raw => codec.decode(raw) !== undefined);
}

/** True if every raw value gives the facet: all rows, `else`, and `blank` unless the column is never blank. */
export function isCodeMapTotal(map: CodeMap, facet: Facet, type: ColumnType, certain: boolean): boolean {
  if (facet === 'text') return false;
  const has = (coded: CodeMap['blank']): boolean => coded?.[facet] !== undefined;
  const blankIsSafe = has(map.blank) || (certain && type.kind !== 'text');
  return blankIsSafe && [...map.rows.values()].every(has) && map.else.kind === 'code' && has(map.else.coded);
}

function edgesOf(type: ColumnType): readonly SqlValue[] {
  switch (type.kind) {
    case 'integer':
      if (type.bits === 64) return ['0', '-9223372036854775808', '9223372036854775807', '19990230', '10000000'];
      return [0, type.bits === 8 ? 255 : -1, 2 ** (type.bits - 1) - 1, 19990230, 10000000];
    case 'bit':
      return [0, 1];
    case 'decimal': {
      const digits = '9'.repeat(Math.max(type.precision - type.scale, 1));
      const fraction = type.scale > 0 ? `.${'9'.repeat(type.scale)}` : '';
      return [type.scale > 0 ? `0.${'0'.repeat(type.scale)}` : '0', `-${digits}${fraction}`, `${digits}${fraction}`];
    }
    case 'float':
      return [0, -1.5, 1e300, 1e-300];
    case 'date':
      return ['0001-01-01', '1753-01-01', '9999-12-31'];
    case 'datetime': {
      const fraction = type.fraction > 0 ? `.${'0'.repeat(type.fraction)}` : '';
      return [`1753-01-01 00:00:00${fraction}`, `9999-12-31 23:59:59${fraction}`];
    }
    // A conversion to a zone moves one of these to another year.
    case 'instant':
      return ['0001-01-01 00:00:00', '9999-12-31 23:59:59'];
    case 'time':
      return ['00:00:00', '23:59:59'];
    case 'uuid':
      return ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'];
    case 'text':
    case 'binary':
      return [null];
  }
}
