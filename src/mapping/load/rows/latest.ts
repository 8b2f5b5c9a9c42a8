/**
 * Reads `changed` of several columns: the latest of the row and its lookups. In: names of columns of one type. Out: a
 * ValueNode of one expression, so that the resource shows, searches and sorts by the same value.
 */
import { type ColumnType, nameOfType } from '../../../sql/column-type.ts';
import { among, and, compare, constant, not, or } from '../../../sql/construct.ts';
import { engineNamed } from '../../../sql/engines.ts';
import type { ColumnExpression, Expression, Predicate } from '../../../sql/expression.ts';
import type { Codec } from '../../codecs/codec.ts';
import { isTimed } from '../../codecs/stored-time.ts';
import type { Node } from '../../model.ts';
import type { Slot } from '../nodes/slot.ts';
import { readCodec, TIME_NOT_BYTES, typesOf } from '../nodes/via.ts';
import type { Context } from '../pack/context.ts';
import { child, type MapTree, scalarsOf } from '../read/tree.ts';
import { absentValues } from './absent-values.ts';
import { comparable, type Resolved, resolveColumn, type Visible } from './columns.ts';

/** The key of such a node; no element has this name. */
export const LATEST = 'latest of';

/** Reads the node; undefined if a problem was reported. */
export function readLatest(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const names = scalarsOf(child(tree, LATEST));
  const found = names.flatMap(({ text, at }) => resolveColumn(text, at, visible, context) ?? []);
  const [first] = found;
  if (!first || found.length < names.length) return undefined;
  const { type } = first.column;
  // Columns of one type may have rows in different forms.
  const isTime = (of: ColumnType): boolean => isTimed(of) || of.kind === 'instant';
  const odd = found.findIndex(({ column }) => !isTime(column.type) || !areOneType(column.type, type, context));
  const wrong = found[odd];
  if (wrong) {
    context.report.error('wrong-rows', names[odd]?.at ?? tree.at, 'several columns of `changed` must have one type', {
      expected:
        wrong.column.type.kind === 'binary' ? TIME_NOT_BYTES : isTime(type) ? nameOfType(type) : 'columns of times',
      found: nameOfType(wrong.column.type),
    });
    return undefined;
  }
  const columns = alike(found, context);
  const [column] = columns;
  const codec = column && readCodec(undefined, [column.type], typesOf(slot), tree.at, context);
  if (!codec) return undefined;
  const isGiven = columns.map((one, i) => given(one, found[i] ?? first, codec, context));
  const from = latestOf(columns, isGiven);
  const computed: Codec = { ...codec, label: `latest, ${codec.label}`, inverse: 'computed' };
  return { kind: 'value', from: [from], codec: computed, absent: [], type: slot.type, at: tree.at };
}

/** True if SQL compares the two. A DATETIME and a TIMESTAMP of a SQLite file are one type, by what its rows hold. */
function areOneType(a: ColumnType, b: ColumnType, { catalog }: Context): boolean {
  if (nameOfType(a) === nameOfType(b)) return true;
  return engineNamed(catalog.engine).holdsAnything && a.kind === 'datetime' && b.kind === 'datetime';
}

/** Converts the columns to one layout, so that later times are greater texts. */
function alike(found: readonly Resolved[], context: Context): readonly ColumnExpression[] {
  const columns = found.map(({ column }) => column);
  const [first] = columns;
  const other = first && columns.find(column => comparable(first, column, context)[1] !== column);
  return other && first
    ? columns.map(column => comparable(column, column === other ? first : other, context)[0])
    : columns;
}

/** Tests that the column holds a time, and none that means "no value". */
function given(column: ColumnExpression, resolved: Resolved, codec: Codec, context: Context): Predicate {
  const absent = absentValues([resolved], codec, [], context).map(raw => constant(raw, column.type));
  return and(codec.present([column], { now: 0 }), absent.length === 0 ? and() : not(among(column, absent)));
}

/** Chooses the first column that holds a time and is not before any other that does. */
function latestOf(columns: readonly ColumnExpression[], isGiven: readonly Predicate[]): Expression {
  const [first] = columns;
  if (!first) throw new RangeError('the latest of no columns');
  const of = columns.map((column, i) => ({
    when: and(
      isGiven[i] ?? and(),
      ...columns.flatMap((other, j) => (i === j ? [] : [or(not(isGiven[j] ?? and()), compare(column, '>=', other))])),
    ),
    give: column,
  }));
  return { kind: 'choice', of, type: first.type };
}
