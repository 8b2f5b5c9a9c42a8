import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CodeMap, codeMapCodec } from '../../../src/mapping/codecs/code-map.ts';
import { nullable, RUNS, rowsOf, stringCriterion, text } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, table } from './law.ts';

const STATES: CodeMap = {
  name: 'state',
  rows: new Map([
    ['MAINE', { code: 'ME' }],
    ['VT', { code: 'Vermónt' }],
    ['Q', undefined],
  ]),
  blank: { code: 'unknown' },
  else: { kind: 'absent' },
  fold: true,
};
const ELSE: readonly CodeMap['else'][] = [
  { kind: 'absent' },
  { kind: 'text' },
  { kind: 'code', coded: { code: 'other' } },
  { kind: 'local', system: 'urn:x' },
];

describe('codes of a code map in an element that is words, such as the state of an address', () => {
  it.each(ELSE)('are found by their beginning, part or whole: else $kind', unmapped => {
    const rows = table('VARCHAR(40)');
    const raw = fc.oneof(fc.constantFrom('maine', 'Maine ', 'vt', 'Q', 'zz', ' VT', 'a  b'), text);
    const codec = codeMapCodec({
      map: { ...STATES, else: unmapped },
      facet: 'code',
      columnType: columnType('VARCHAR(40)'),
      boolean: false,
      words: true,
    });
    fc.assert(
      fc.property(
        rowsOf(nullable(raw)).chain(raws => {
          rows.fill(raws.map(one => [one]));
          return fc.tuple(fc.constant(raws), stringCriterion(decodeAll(codec, rows)));
        }),
        ([raws, criterion]) => {
          rows.fill(raws.map(one => [one]));
          expectMatch(codec, rows, criterion);
        },
      ),
      RUNS,
    );
  });

  it('also match for numeric keys', () => {
    const rows = table('INT');
    rows.fill([[1], [12], [7], [null]]);
    const codec = codeMapCodec({
      map: { ...STATES, rows: new Map([['1', { code: 'ME' }]]), else: { kind: 'local', system: 'urn:x' } },
      facet: 'code',
      columnType: columnType('INT'),
      boolean: false,
      words: true,
    });
    for (const word of ['me', '1', '12', '7', 'unk'])
      for (const mode of ['starts', 'contains', 'exact'] as const)
        expectMatch(codec, rows, { kind: 'string', mode, text: word });
  });

  it('have no text search in a code element', () => {
    const codec = codeMapCodec({ map: STATES, facet: 'code', columnType: columnType('INT'), boolean: false });
    expect(codec.match(table('INT').columns, { kind: 'string', mode: 'starts', text: 'm' }, CLOCK)).toBeUndefined();
  });
});
