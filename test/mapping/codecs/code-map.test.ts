import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanCodec } from '../../../src/mapping/codecs/boolean.ts';
import type { Coded, CodeMap, Facet } from '../../../src/mapping/codecs/code-map.ts';
import { codeMapCodec } from '../../../src/mapping/codecs/code-map.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { exact, nullable, RUNS, rowsOf, stringCriterion, text, uriBelow } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const SYSTEM = 'http://example.org/status';
const ACTIVE: Coded = { code: 'active', system: SYSTEM, display: 'Active now' };
const STATUS: CodeMap = {
  name: 'status',
  rows: new Map<string, Coded | undefined>([
    ['A', ACTIVE],
    ['a', { code: 'resolved', system: SYSTEM }],
    ['R', { code: 'resolved', system: SYSTEM, display: 'Résolu' }],
    ['MG/DL', { code: 'mg/dL', system: 'http://unitsofmeasure.org', display: 'mg/dL' }],
    ['E', undefined],
    ['0', { code: 'none', system: SYSTEM }],
    ['1', { code: 'some', display: 'without a system' }],
    ['Q', { code: 'http://example.org/forms/q/1' }],
  ]),
  blank: undefined,
  else: { kind: 'absent' },
  fold: false,
};
const FOLDED = new Map([...STATUS.rows].filter(([key]) => key !== 'a'));
const FACETS: readonly Facet[] = ['code', 'system', 'display', 'text'];

const keys = fc.constantFrom(
  'A',
  'a',
  'R',
  'r',
  'E',
  'e',
  'MG/DL',
  'mg/dl',
  'Mg/dL',
  '0',
  '1',
  'Q',
  'A ',
  ' A',
  'active',
  'a  b',
  '\t',
);
const maps: fc.Arbitrary<CodeMap> = fc
  .record({
    fold: fc.boolean(),
    blank: fc.constantFrom(undefined, ACTIVE),
    else: fc.constantFrom<CodeMap['else']>(
      { kind: 'absent' },
      { kind: 'text' },
      { kind: 'code', coded: ACTIVE },
      { kind: 'code', coded: { code: 'other', display: 'Other' } },
      { kind: 'local', system: 'http://example.org/local' },
    ),
  })
  .map(rest => ({ ...STATUS, ...rest, rows: rest.fold ? FOLDED : STATUS.rows }));

describe('code map', () => {
  const read = (map: Partial<CodeMap>, raw: SqlValue, declared = 'VARCHAR(10)') =>
    FACETS.map(facet =>
      codeMapCodec({ map: { ...STATUS, ...map }, facet, columnType: columnType(declared), boolean: false }).decode(raw),
    );

  it.each<[string, Partial<CodeMap>, SqlValue, readonly unknown[]]>([
    ['a row', {}, 'A', ['active', SYSTEM, 'Active now', undefined]],
    ['padding', {}, 'A    ', ['active', SYSTEM, 'Active now', undefined]],
    ['a row without display', {}, 'a', ['resolved', SYSTEM, undefined, undefined]],
    ['a row with its own system', {}, 'MG/DL', ['mg/dL', 'http://unitsofmeasure.org', 'mg/dL', undefined]],
    ['a row that means none', { else: { kind: 'text' } }, 'E', [undefined, undefined, undefined, undefined]],
    ['case that counts', {}, 'r', [undefined, undefined, undefined, undefined]],
    ['case that does not', { fold: true, rows: FOLDED }, 'r', ['resolved', SYSTEM, 'Résolu', undefined]],
    ['NULL', {}, null, [undefined, undefined, undefined, undefined]],
    ['NULL with a code', { blank: ACTIVE }, null, ['active', SYSTEM, 'Active now', undefined]],
    ['blanks with a code', { blank: ACTIVE }, '  ', ['active', SYSTEM, 'Active now', undefined]],
    ['others as text', { else: { kind: 'text' } }, ' What? ', [undefined, undefined, undefined, 'What?']],
    ['others as a code', { else: { kind: 'code', coded: ACTIVE } }, 'X', ['active', SYSTEM, 'Active now', undefined]],
    [
      'others as local codes',
      { else: { kind: 'local', system: 'urn:x' } },
      'X9 ',
      ['X9', 'urn:x', undefined, undefined],
    ],
    [
      'others that are no codes',
      { else: { kind: 'local', system: 'urn:x' } },
      ' X9',
      [undefined, undefined, undefined, undefined],
    ],
  ])('reads %s', (_, map, raw, wanted) => {
    expect(read(map, raw)).toEqual(wanted);
  });

  it('reads integers by their digits', () => {
    expect(read({}, 1, 'INT')).toEqual(['some', undefined, 'without a system', undefined]);
    expect(read({ else: { kind: 'text' } }, 7, 'INT')).toEqual([undefined, undefined, undefined, '7']);
  });

  it.each(FACETS)('keeps the law for facet %s of a text column', facet => {
    expectLaw('VARCHAR(80)', nullable(fc.oneof(keys, keys, text)), map =>
      codeMapCodec({ map, facet, columnType: columnType('VARCHAR(80)'), boolean: false }),
    );
  });

  it.each(FACETS)('keeps the law for facet %s of an integer column', facet => {
    expectLaw('INT', nullable(fc.constantFrom(0, 1, 2, -1, 10)), map =>
      codeMapCodec({ map, facet, columnType: columnType('INT'), boolean: false }),
    );
  });

  it('compares the bare column with the keys', () => {
    const { columns } = table('CHAR(1)');
    const codec = codeMapCodec({ map: STATUS, facet: 'code', columnType: columnType('CHAR(1)'), boolean: false });
    expect(codec.match(columns, { kind: 'exact', text: 'resolved' }, CLOCK)).toMatchObject({
      kind: 'in',
      left: columns[0],
      values: [{ value: 'a' }, { value: 'R' }],
      not: false,
    });
    expect(codec.match(columns, { kind: 'exact', text: 'RESOLVED' }, CLOCK)).toEqual({ kind: 'false' });
  });

  it.each(FACETS)('orders facet %s as its texts', facet => {
    const rows = table('VARCHAR(80)');
    fc.assert(
      fc.property(maps, rowsOf(nullable(fc.oneof(keys, text))), (map, raws) => {
        const codec = codeMapCodec({ map, facet, columnType: columnType('VARCHAR(80)'), boolean: false });
        rows.fill(raws.map(raw => [raw]));
        if (codec.order) expectOrder(codec, rows, ['', 'active', 'b', 'resolved', 'zz']);
        else expect(facet).toBe('text');
      }),
      RUNS,
    );
  });

  it('has no order where it has no codes, or many', () => {
    const many = new Map(Array.from({ length: 65 }, (_, i) => [`${i}`, { code: `c${i}` }]));
    const orderOf = (map: Partial<CodeMap>) =>
      codeMapCodec({ map: { ...STATUS, ...map }, facet: 'code', columnType: columnType('CHAR(1)'), boolean: false })
        .order;
    expect(orderOf({})).toBeDefined();
    expect(orderOf({ rows: new Map([...many].slice(1)) })).toBeDefined();
    expect(orderOf({ rows: many })).toBeUndefined();
    expect(orderOf({ rows: new Map() })).toBeUndefined();
    expect(orderOf({ rows: new Map(), else: { kind: 'local', system: 'urn:x' } })).toBeDefined();
  });

  it('sorts local codes as they stand, among those of the map', () => {
    const rows = table('VARCHAR(80)');
    rows.fill([['ZZ'], ['R'], ['aa'], ['A'], ['b '], [null]]);
    const map: CodeMap = { ...STATUS, else: { kind: 'local', system: 'urn:x' } };
    const codec = codeMapCodec({ map, facet: 'code', columnType: columnType('VARCHAR(80)'), boolean: false });
    expectOrder(codec, rows, ['', 'active', 'aa', 'zz']);
    const by = codec.order?.by(rows.columns) ?? [];
    const sorted = rows.values(
      by,
      by.map(one => ({ by: one, descending: false })),
    );
    expect(sorted.flatMap(raws => codec.order?.toKey(raws) ?? [])).toEqual(['ZZ', 'aa', 'active', 'b', 'resolved']);
  });

  it('answers no string search on codes and systems', () => {
    const { columns } = table('CHAR(1)');
    for (const facet of ['code', 'system'] as const) {
      const codec = codeMapCodec({ map: STATUS, facet, columnType: columnType('CHAR(1)'), boolean: false });
      expect(codec.match(columns, { kind: 'string', mode: 'starts', text: 'a' }, CLOCK)).toBeUndefined();
    }
  });

  function expectLaw(declared: string, raw: fc.Arbitrary<SqlValue>, make: (map: CodeMap) => Codec): void {
    const rows = table(declared);
    fc.assert(
      fc.property(maps, rowsOf(raw), fc.gen(), (map, raws, g) => {
        const codec = make(map);
        rows.fill(raws.map(one => [one]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (const _ of [1, 2, 3])
          expectMatch(codec, rows, g(exact, [...values, SYSTEM, 'http://example.org/local', 'MG/DL', 'mg/dl']));
        if (codec.match(rows.columns, { kind: 'string', mode: 'exact', text: '' }, CLOCK))
          for (const _ of [1, 2, 3]) expectMatch(codec, rows, g(stringCriterion, values));
      }),
      RUNS,
    );
  }

  it.each([
    ['code', 'VARCHAR(80)', nullable(fc.oneof(keys, fc.constantFrom('Q', 'urn:x/y', 'urn:x', 'urn:xy')))],
    ['code', 'INT', nullable(fc.constantFrom(0, 1, 2))],
    ['system', 'VARCHAR(80)', nullable(keys)],
    ['system', 'INT', nullable(fc.constantFrom(0, 1, 2))],
  ] as const)('finds by facet %s of a %s column the URLs below a URL', (facet, declared, raw) => {
    const rows = table(declared);
    fc.assert(
      fc.property(maps, rowsOf<SqlValue>(raw), fc.gen(), (map, raws, g) => {
        const codec = codeMapCodec({ map, facet, columnType: columnType(declared), boolean: false });
        rows.fill(raws.map(one => [one]));
        for (const _ of [1, 2, 3]) expectMatch(codec, rows, g(uriBelow, decodeAll(codec, rows)));
        for (const above of ['http://example.org', 'http://example.org/', 'http://example.org/forms/q', 'urn:x'])
          expectMatch(codec, rows, { kind: 'uri-below', text: above });
      }),
      RUNS,
    );
  });
});

describe('boolean', () => {
  const flags = { true: ['Y', 'T'], false: ['N'] };

  it.each([
    ['Y', true],
    ['Y  ', true],
    ['N', false],
    ['y', undefined],
    ['', undefined],
    [null, undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(booleanCodec({ columnType: columnType('CHAR(3)'), ...flags }).decode(raw)).toBe(wanted);
  });

  it.each([
    ['CHAR(3)', fc.constantFrom('Y', 'N', 'T', 'y', 'Y  ', '', ' Y'), flags],
    ['BIT', fc.constantFrom(0, 1), { true: ['1'], false: ['0'] }],
    ['TINYINT', fc.constantFrom(0, 1, 2), { true: ['1'], false: ['0', '2'] }],
  ])('keeps the law for %s', (declared, raw, options) => {
    const rows = table(declared);
    const codec = booleanCodec({ columnType: columnType(declared), ...options });
    fc.assert(
      fc.property(rowsOf(nullable<string | number>(raw)), raws => {
        rows.fill(raws.map(one => [one]));
        expectPresent(codec, rows);
        for (const wanted of ['true', 'false', 'TRUE', '1', ''])
          expectMatch(codec, rows, { kind: 'exact', text: wanted });
      }),
      RUNS,
    );
  });
});

it('uses of a map share the raw values of a criterion, and criteria keep theirs apart', () => {
  const type = columnType('VARCHAR(9)');
  const listOf = (code: string): readonly unknown[] | undefined => {
    const codec = codeMapCodec({ map: STATUS, facet: 'code', columnType: type, boolean: false });
    const column = { kind: 'column', alias: identifier('t'), column: identifier('C'), type } as const;
    const asked = codec.match([column], { kind: 'exact', text: code }, CLOCK);
    return asked?.kind === 'in' ? asked.values : undefined;
  };
  const [active, resolved] = [listOf('active'), listOf('resolved')];
  expect(resolved).toMatchObject([{ value: 'a' }, { value: 'R' }]);
  expect(listOf('resolved')).toBe(resolved);
  for (const code of ['some', 'mg/dL', 'nothing', 'else']) listOf(code);
  expect(listOf('resolved')).toEqual(resolved);
  expect(listOf('active')).toEqual(active);
});
