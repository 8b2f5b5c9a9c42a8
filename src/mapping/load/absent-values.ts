/**
 * Raw values that mean "no value". In: a binding's `none:` and the pack's `absent:` rules. Out: values typed by the
 * column. Rules of a kind hold for columns of that kind; those for dates also where a codec reads a date out of another
 * column. They hold for bindings only, never for keys, ids and references.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import type { Codec } from '../codecs/codec.ts';
import type { Resolved } from './columns.ts';
import type { Context } from './context.ts';
import { literalForm, readLiteral } from './literal.ts';
import { columnKey } from './settings.ts';
import { type ScalarTree, scalarsOf } from './tree.ts';

/** The values for the first column of a binding, in the order: `none:`, the column's rule, the rules of its kind. */
export function absentValues(
  found: readonly Resolved[],
  codec: Codec,
  none: readonly ScalarTree[],
  context: Context,
  keys: ReadonlySet<string> = new Set(),
): readonly (string | number)[] {
  const [first] = found;
  if (!first) return [];
  const { type, column } = first.column;
  const values = new Set<string | number>();
  const strict = (tree: ScalarTree): void => {
    const value = readLiteral(tree.text, type);
    if (value !== undefined) values.add(value);
    else {
      context.report.error(tree.at, `literal not of the type of column ${column}`, {
        expected: literalForm(type),
        found: tree.text || 'nothing',
      });
    }
  };
  for (const tree of none) strict(tree);
  const rule = first.table && context.settings.absent.columns.get(columnKey(`${first.table.name}.${column}`));
  for (const tree of scalarsOf(rule?.value)) strict(tree);
  for (const tree of kindRules(type, codec, context)) {
    const value = readLiteral(tree.text, type);
    // A rule for all columns of a kind may name values that one of them cannot hold; a code map's row is more exact.
    if (value !== undefined && !keys.has(tree.text)) values.add(value);
  }
  return [...values];
}

function kindRules(type: ColumnType, codec: Codec, context: Context): readonly ScalarTree[] {
  const { absent } = context.settings;
  const date = codec.yields.some(yielded => ['date', 'dateTime', 'instant'].includes(yielded)) ? absent.date : [];
  switch (type.kind) {
    case 'text':
      return [...absent.text, ...date];
    case 'integer':
    case 'decimal':
    case 'float':
      return date.length > 0 ? [...absent.number, ...date] : absent.number;
    case 'date':
    case 'datetime':
      return absent.date;
    default:
      return [];
  }
}
