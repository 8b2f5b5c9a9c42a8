/**
 * A codec, added as docs/extending.md describes: `prefixed`, for codes after letters with which all stored values
 * begin.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Codec } from '../../src/mapping/codecs/codec.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { exact, nullable, RUNS, text } from '../mapping/codecs/arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from '../mapping/codecs/law.ts';
import { copiedTree, isListed } from './tree.ts';

const PREFIXED = `/**
 * A code behind letters that all stored values begin with. In: \`MK-0815\` of \`{prefixed: {by: "MK-"}}\`. Out:
 * \`0815\`; a text without the letters is absent. Searches compare the column with letters and code.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, FALSE, glob } from '../../sql/construct.ts';
import { CODE_ORDER, codeCodec, codeOf, isCode, matchCode } from './code.ts';
import { type Codec, only } from './codec.ts';

/** \`by\`: letters, digits and hyphens. */
export function prefixedCodec(by: string, columnType: ColumnType): Codec {
  return {
    ...codeCodec(columnType),
    label: 'prefixed',
    decode: raw => (typeof raw === 'string' && raw.startsWith(by) ? codeOf(raw.slice(by.length)) : undefined),
    present: columns => and(isCode(only(columns)), glob(only(columns), \`\${by}[^ ]*\`)),
    match(columns, criterion) {
      if (criterion.kind !== 'exact') return undefined;
      return codeOf(criterion.text) === criterion.text ? matchCode(only(columns), by + criterion.text) : FALSE;
    },
    order: CODE_ORDER,
  };
}
`;

const ENTRY = `  prefixed: entry(z.strictObject({ by: z.string().regex(/^[\\w-]+$/, 'letters, digits, hyphens') }), ({ by }, [type]) =>
    type?.kind === 'text' ? prefixedCodec(by, type) : refuse('prefixed', type),
  ),
`;

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [ { system: urn:example:charts, value: { from: SURNAME, via: { prefixed: { by: K } } } } ]
`;

const TEST = `mapping: people
rows: { PERSON: [{ ID: "1", SURNAME: K0815 }] }
resource: { identifier: [{ value: "0815" }] }
matches: ["identifier=0815", "identifier=urn:example:charts|0815"]
misses: [identifier=K0815]
`;

test('a codec needs the listed files, satisfies the law, and is checked by an independent reading', async () => {
  const { environment } = smallClinic({ 'person.yaml': PERSON, 'person.test.yaml': TEST });
  const tree = copiedTree();
  tree.add('src/mapping/codecs/prefixed.ts', PREFIXED.replace('raw.slice(by.length)', 'raw.slice(by.length + 1)'));
  tree.insert('src/mapping/codecs/table.ts', '  uuid: entry(', ENTRY);
  tree.insert('src/mapping/codecs/table.ts', 'import { rangeText', "import { prefixedCodec } from './prefixed.ts';\n");
  const reading =
    "  prefixed: { differs: (stored, emitted) => stored.trimEnd().replace(/^[A-Z]+-?/, '') !== emitted },\n";
  tree.insert('src/law/readings.ts', "  'range-text.low': range", reading);
  const flawed = await tree.lintel(environment, 'check');
  expect(flawed.out, 'the reading says so').toContain('SURNAME is read as another value by prefixed');

  tree.replace('src/mapping/codecs/prefixed.ts', 'by.length + 1', 'by.length');
  const { code, out, notes } = await tree.lintel(environment, 'check');
  expect(code, out).toBe(0);
  expect(notes).toMatch(/^Values: . rows compared/m);
  expect(tree.touched().filter(file => !isListed('A codec')(file))).toEqual([]);

  const { prefixedCodec }: { readonly prefixedCodec: (by: string, type: ColumnType) => Codec } = await import(
    join(tree.folder, 'src/mapping/codecs/prefixed.ts')
  );
  const codec = prefixedCodec('MK-', columnType('VARCHAR(20)'));
  const rows = table('VARCHAR(20)');
  const stored = nullable(
    fc.oneof(
      text,
      text.map(one => `MK-${one}`),
    ),
  );
  fc.assert(
    fc.property(fc.array(stored, { minLength: 1, maxLength: 6 }), fc.gen(), (raws, g) => {
      rows.fill(raws.map(one => [one]));
      expectPresent(codec, rows);
      for (let i = 0; i < 4; i++) expectMatch(codec, rows, g(exact, decodeAll(codec, rows)));
      expectOrder(codec, rows, ['', 'MK-', 'a']);
    }),
    RUNS,
  );
});
