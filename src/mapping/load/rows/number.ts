/**
 * Reads `number:` of a mapping: the whole number that the REST interface uses instead of the FHIR id. In: a column.
 * Out: the column with its codec.
 */
import { type IdColumn, idCodec } from '../../id-rule.ts';
import type { Context } from '../pack/context.ts';
import { child, type Tree } from '../read/tree.ts';
import { resolveColumn, type Visible } from './columns.ts';

/** Undefined where there is none; another column than one of whole numbers is reported. */
export function readNumber(
  tree: Tree | undefined,
  visible: Visible,
  context: Context,
): readonly [IdColumn] | undefined {
  const written = tree?.kind === 'map' ? child(tree, 'from') : tree;
  if (written?.kind !== 'scalar') return undefined;
  const resolved = resolveColumn(written.text, written.at, visible, context);
  if (!resolved) return undefined;
  const { column, info } = resolved;
  const codec = idCodec(undefined, column.type);
  if (codec?.name === 'integer') return [{ kind: 'column', column, codec }];
  context.report.error('wrong-codec', written.at, '`number` takes a column of whole numbers', {
    found: `${written.text}, ${info?.declared ?? 'text'}`,
  });
  return undefined;
}
