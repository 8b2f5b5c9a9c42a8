/**
 * Reads logical ids. In: `"x-{COL|codec}"` or a list of these. Out: an IdRule that can be inverted unambiguously.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { type IdPart, type IdRule, idCodec } from '../../id-rule.ts';
import type { Context } from '../pack/context.ts';
import { type ScalarTree, scalarsOf, type Tree } from '../read/tree.ts';
import { resolveColumn, type Visible } from '../rows/columns.ts';

const CODEC_NAMES: readonly string[] = ['plain', 'integer', 'decimal', 'uuid', 'date', 'datetime', 'escaped'];

/** Reads the alternatives. An alternative with a problem is left out. */
export function readIdRule(tree: Tree | undefined, visible: Visible, context: Context): IdRule {
  const alternatives = scalarsOf(tree).flatMap(written => {
    const parts = readParts(written, visible, context);
    return parts ? [parts] : [];
  });
  return { alternatives };
}

function readParts(tree: ScalarTree, visible: Visible, context: Context): readonly IdPart[] | undefined {
  const { report } = context;
  const fields = tree.text.split(/\{([^{}]*)\}/);
  const parts = fields.flatMap((field, i) =>
    i % 2 === 0 ? readLiteralPart(field, tree, context) : readColumn(field, tree, visible, context),
  );
  const whole = parts.filter(part => part !== undefined);
  if (!whole.some(part => part.kind === 'column')) {
    if (whole.length === parts.length)
      report.error('wrong-id', tree.at, 'id without a column: all resources would share it', {
        expected: '"{COL}"',
        found: tree.text || 'nothing',
      });
    return undefined;
  }
  if (whole.length < parts.length) return undefined;
  const length = whole.reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : 1), 0);
  if (length > 64)
    report.error('wrong-id', tree.at, 'id of more than 64 characters', {
      expected: 'what FHIR allows: 64. Two UUIDs do not fit; a view can give each row a short key',
      found: tree.text,
    });
  for (const [i, part] of whole.entries()) {
    const next = whole[i + 1];
    if (part.kind === 'column' && next?.kind === 'column') {
      report.error('wrong-id', tree.at, 'two columns of an id without a literal between them', { found: tree.text });
    }
    if (isPlain(part) && next?.kind === 'literal' && whole.slice(i + 2).some(isPlain)) {
      report.error('wrong-id', tree.at, `ambiguous id: \`${next.text}\` may occur in both columns beside it`, {
        expected: '`|escaped` for one of them',
        found: tree.text,
      });
    }
  }
  return readOneWay(whole);
}

/** A text of any length. One that has to be a UUID ends after 36 characters, whatever stands behind it. */
function isPlain(part: IdPart): boolean {
  return part.kind === 'column' && part.codec.name === 'plain' && !part.codec.isUuid;
}

/**
 * Makes ids with several texts and hyphens between them unambiguous: all texts but one escape their hyphens. The
 * exception is a plain text, which has no escape, or else the last one. So no two rows share an id.
 */
function readOneWay(parts: readonly IdPart[]): readonly IdPart[] {
  const texts = parts.filter(part => isPlain(part) || (part.kind === 'column' && part.codec.name === 'escaped'));
  const [first] = texts;
  const last = texts.at(-1);
  if (!first || !last) return parts;
  const between = parts.slice(parts.indexOf(first) + 1, parts.indexOf(last));
  if (!between.some(part => part.kind === 'literal' && part.text.includes('-'))) return parts;
  const kept = texts.find(isPlain) ?? last;
  return parts.map(part => {
    if (part === kept || part.kind === 'literal' || part.codec.name !== 'escaped') return part;
    return { ...part, codec: idCodec('escaped-dash', part.column.type) ?? part.codec };
  });
}

function readLiteralPart(text: string, tree: ScalarTree, context: Context): readonly (IdPart | undefined)[] {
  if (text === '') return [];
  // The macro's unreplaced name has been reported already.
  if (/\$[A-Za-z_]/.test(text)) return [undefined];
  if (/^[A-Za-z0-9.-]+$/.test(text)) return [{ kind: 'literal', text }];
  context.report.error('wrong-id', tree.at, 'characters that no id has', { expected: 'A-Z a-z 0-9 . -', found: text });
  return [undefined];
}

function readColumn(
  field: string,
  tree: ScalarTree,
  visible: Visible,
  context: Context,
): readonly (IdPart | undefined)[] {
  const [name = '', written] = field.split('|').map(part => part.trim());
  if (written !== undefined && !CODEC_NAMES.includes(written)) {
    context.report.error('wrong-codec', tree.at, 'unknown codec of an id', { found: written, among: CODEC_NAMES });
    return [undefined];
  }
  const resolved = resolveColumn(name, tree.at, visible, context);
  if (!resolved) return [undefined];
  const codec = idCodec(written, resolved.column.type);
  if (!codec) {
    context.report.error(
      'wrong-id',
      tree.at,
      `column ${name} cannot be used in an id${written === undefined ? '' : ` as ${written}`}`,
      {
        found: resolved.info?.declared ?? 'text',
        expected: idCodec(undefined, resolved.column.type) ? `{${name}}` : 'a text, number, date, moment or UUID',
      },
    );
    return [undefined];
  }
  return [{ kind: 'column', column: resolved.column, codec }];
}

/** Returns `alias.column` of the columns of one alternative. */
export function columnsOf(parts: readonly IdPart[]): ReadonlySet<string> {
  return new Set(parts.flatMap(part => (part.kind === 'column' ? [`${part.column.alias}.${part.column.column}`] : [])));
}
