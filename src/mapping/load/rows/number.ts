/**
 * Reads `number:` of a mapping: the whole number that the REST interface uses instead of the FHIR id. In: a column of
 * whole numbers, or of texts such as `0000012345` and `     12345`, or digits before one, `1{COL}`. Out: the column
 * with its codecs.
 */
import {
  alignedCodec,
  digitsCodec,
  type IdColumn,
  idCodec,
  NUMBER_DIGITS,
  NUMBER_WIDTH,
  type NumberRule,
  prefixedCodec,
} from '../../id-rule.ts';
import type { Context } from '../pack/context.ts';
import { child, type Tree } from '../read/tree.ts';
import { resolveColumn, type Visible } from './columns.ts';

/** The prefix must not begin with 0, because a number would lose it. More than 14 digits leave none for the column. */
const TEMPLATE = /^([1-9]\d{0,13})?\{([^{}]+)\}$/;

/** Reads the rule; undefined if there is none. Reports a column that does not hold whole numbers. */
export function readNumber(tree: Tree | undefined, visible: Visible, context: Context): NumberRule | undefined {
  const written = tree?.kind === 'map' ? child(tree, 'from') : tree;
  if (written?.kind !== 'scalar') return undefined;
  const [, before = '', braced] = TEMPLATE.exec(written.text) ?? [];
  if (braced === undefined && written.text.includes('{')) {
    context.report.error('wrong-form', written.at, '`number` is not in the right form', {
      expected: 'a column, or digits and one column in braces, as in "1{NO}"',
      found: written.text,
    });
    return undefined;
  }
  const resolved = resolveColumn(braced ?? written.text, written.at, visible, context);
  if (!resolved) return undefined;
  const { column, info } = resolved;
  const { type } = column;
  const numberOf = (codec: IdColumn['codec']): readonly [IdColumn] => [
    { kind: 'column', column, codec: before === '' ? codec : prefixedCodec(before, codec) },
  ];
  if (type.kind === 'text') {
    const most = type.length === 'max' ? NUMBER_WIDTH : type.length;
    const lengths = Array.from({ length: Math.min(most, NUMBER_WIDTH) }, (_, i) => i + 1).reverse();
    const [first, ...others] = lengths.filter(length => length <= NUMBER_DIGITS).map(digitsCodec);
    if (first) return [numberOf(first), ...[...others, ...lengths.map(alignedCodec)].map(numberOf)];
  }
  const codec = idCodec(undefined, type);
  if (codec?.name === 'integer') return [numberOf(codec)];
  context.report.error(
    'wrong-codec',
    written.at,
    '`number` requires a column of whole numbers, or of texts of digits',
    {
      found: `${written.text}, ${info?.declared ?? 'text'}`,
    },
  );
  return undefined;
}
