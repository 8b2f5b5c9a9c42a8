import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparatorNumberCodec } from '../../../src/mapping/codecs/comparator-number.ts';
import { ceilUnits, floorUnits, printUnits } from '../../../src/mapping/codecs/decimal.ts';
import type { NumericFhirType } from '../../../src/mapping/codecs/number.ts';
import { numberCodec } from '../../../src/mapping/codecs/number.ts';
import { rangeTextCodec } from '../../../src/mapping/codecs/range-text.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { exact, nullable, numberCriterion, RUNS, rowsOf } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';
import type { Compared } from './oracle.ts';

const VARCHAR = columnType('VARCHAR(40)');
const written = fc.oneof(
  fc.constantFrom(
    '5',
    '5.0',
    '5.00',
    '4.9',
    '5.1',
    '-5',
    '-0',
    '-0.0',
    '007',
    '00.50',
    '0',
    '',
    ' ',
    ' 5 ',
    '\t5\r\n',
    '5.',
    '.5',
    '-.5',
    '+5',
    '1e2',
    '5,0',
    '1.2.3',
    '1-2',
    '--5',
    '5-',
    '-',
    '.',
    'N/A',
    '５',
    '<5',
    '100',
    '2147483647',
    '2147483648',
    '-2147483649',
    '123456789012345',
    '1234567890123456',
    '0.1234567891',
    '0.12345678912',
    '99999999999.999',
  ),
  fc
    .tuple(fc.integer({ min: -200, max: 200 }), fc.constantFrom('', '.0', '.5', '.25', '.950'))
    .map(([a, b]) => `${a}${b}`),
);

describe('number', () => {
  const read = (raw: SqlValue, fhirType: NumericFhirType = 'decimal', declared = 'VARCHAR(40)') =>
    numberCodec({ columnType: columnType(declared), fhirType }).decode(raw);

  it.each([
    ['5', '5'],
    [' 12.50 ', '12.50'],
    ['-0.50', '-0.50'],
    ['007.10', '7.10'],
    ['-0', '0'],
    ['5.', undefined],
    ['.5', undefined],
    ['+5', undefined],
    ['1e2', undefined],
    ['1,5', undefined],
    ['', undefined],
    ['1234567890123456', undefined],
    ['0.12345678912', undefined],
    [null, undefined],
  ])('reads text %j as %j', (raw, wanted) => {
    expect(read(raw)).toEqual(wanted === undefined ? undefined : { decimal: wanted });
  });

  it('keeps the digits of a decimal column', () => {
    expect(read('12.50', 'decimal', 'DECIMAL(9,2)')).toEqual({ decimal: '12.50' });
    expect(read('123456789012345678.0000', 'decimal', 'DECIMAL(38,4)')).toEqual({ decimal: '123456789012345678.0000' });
  });

  it.each([
    ['151.0000', 0, '151'],
    ['0.3100', 0, '0.31'],
    ['100.0000', 0, '100'],
    ['0.0000', 0, '0'],
    ['-7.5000', 0, '-7.5'],
    ['151.0000', 1, '151.0'],
    ['98.6000', 1, '98.6'],
    ['98.6500', 1, '98.65'],
    ['123456789012345678.0000', 2, '123456789012345678.00'],
  ])('leaves out the zeros of %s that stand beyond scale %i', (raw, scale, wanted) => {
    const codec = numberCodec({ columnType: columnType('DECIMAL(38,4)'), fhirType: 'decimal', scale });
    expect(codec.decode(raw)).toEqual({ decimal: wanted });
  });

  it('leaves out the zeros of a text that was copied from a decimal column', () => {
    const codec = numberCodec({ columnType: VARCHAR, fhirType: 'decimal', scale: 0 });
    const read = (raw: string) => codec.decode(raw);
    expect(['150.500000', ' 98.000000', '007.0'].map(read)).toEqual(['150.5', '98', '7'].map(decimal => ({ decimal })));
    expect(read('x')).toBeUndefined();
  });

  it('gives integers within what the FHIR type holds', () => {
    expect(read('5', 'integer')).toBe(5);
    expect(read('5.0', 'integer')).toBeUndefined();
    expect(read('2147483648', 'integer')).toBeUndefined();
    expect(read('0', 'positiveInt')).toBeUndefined();
    expect(read('0', 'unsignedInt')).toBe(0);
    expect(read('-1', 'unsignedInt')).toBeUndefined();
    expect(read('9007199254740993', 'integer', 'BIGINT')).toBeUndefined();
  });

  const types: readonly NumericFhirType[] = ['decimal', 'integer', 'positiveInt', 'unsignedInt'];
  const whole = fc.constantFrom(0, 1, 5, -1, 100, 2147483647, -2147483648);
  it.each([
    ...types.map(fhirType => ['VARCHAR(40)', fhirType, written] as const),
    ...types.map(fhirType => ['INT', fhirType, whole] as const),
    ['BIGINT', 'integer', fc.constantFrom(0, 5, 2147483648, -2147483649, 9007199254740991)] as const,
    ['TINYINT', 'decimal', fc.constantFrom(0, 1, 5, 100, 255)] as const,
    ['DECIMAL(9,2)', 'decimal', fc.constantFrom(0, 5, 4.9, 5.1, -1, 99.99, 0.1, 4.95)] as const,
    ['MONEY', 'decimal', fc.constantFrom(0, 5, 4.9999, 5.1, -1, 0.0001)] as const,
    ['DECIMAL(9,0)', 'integer', fc.constantFrom(0, 5, -1, 100)] as const,
    ['FLOAT', 'decimal', fc.constantFrom(0, 5, 4.9, 5.1, -1, 0.1)] as const,
    ['REAL', 'decimal', fc.constantFrom(0, 5, 4.9, 5.1, -1, 0.1)] as const,
    ...(['integer', 'positiveInt', 'unsignedInt'] as const).flatMap(fhirType => [
      ['FLOAT', fhirType, fc.constantFrom(0, 5, 4.9, -1, 0.1, 2147483647, 2147483648)] as const,
      ['DECIMAL(12,2)', fhirType, fc.constantFrom(0, 5, 4.9, -1, 0.1, 2147483647, 2147483648)] as const,
    ]),
  ])('keeps the law for %s as %s', (declared, fhirType, raw) => {
    const rows = table(declared);
    const scale = declared === 'MONEY' ? { scale: 1 } : {};
    const codec = numberCodec({ columnType: columnType(declared), fhirType, ...scale });
    fc.assert(
      fc.property(rowsOf(nullable<string | number>(raw)), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (let i = 0; i < 6; i++) expectMatch(codec, rows, g(numberCriterion, values));
        expectOrder(codec, rows, [0, 5, 4.95]);
      }),
      RUNS,
    );
  });

  it.each([
    ['>=', '5.1', '>=', 5.1],
    ['>=', '5.10000001', '>', 5.1],
    ['<', '5.09999999', '<', 5.1],
    ['<', '1e39', undefined, undefined],
  ] as const)('a REAL %s %s is compared with a number that it can be', (op, at, wanted, near) => {
    const { columns } = table('REAL');
    const codec = numberCodec({ columnType: columnType('REAL'), fhirType: 'decimal' });
    const match = codec.match(columns, { kind: 'number', any: [[{ op, at }]] }, CLOCK);
    if (wanted === undefined) expect(match).toMatchObject({ kind: 'null', not: true });
    else
      expect(match).toMatchObject({ of: [{ kind: 'null' }, { kind: 'compare', op: wanted, right: { value: near } }] });
  });

  it('rounds bounds to the column and folds those that it cannot hold', () => {
    const { columns } = table('INT');
    const codec = numberCodec({ columnType: columnType('INT'), fhirType: 'decimal' });
    const match = (op: '<' | '<=' | '>' | '>=', at: string) =>
      codec.match(columns, { kind: 'number', any: [[{ op, at }]] }, CLOCK);
    expect(match('<', '5.35')).toMatchObject({
      of: [{ kind: 'null' }, { kind: 'compare', op: '<', right: { value: 6 } }],
    });
    expect(match('>=', '5.35')).toMatchObject({
      of: [{ kind: 'null' }, { kind: 'compare', op: '>=', right: { value: 6 } }],
    });
    expect(match('<', '1e20')).toMatchObject({ kind: 'null', not: true });
    expect(match('>', '1e20')).toEqual({ kind: 'false' });
  });
});

describe('decimals', () => {
  it('round to a scale downwards and upwards without binary floats', () => {
    fc.assert(
      fc.property(fc.integer({ min: -99999, max: 99999 }), fc.nat(4), fc.nat(3), (units, places, scale) => {
        const decimal = printUnits(BigInt(units), places);
        const value = units / 10 ** (places - scale);
        const rounded = Math.round(value * 1e6) / 1e6;
        expect(Number(floorUnits(decimal, scale))).toBe(Math.floor(rounded) + 0);
        expect(Number(ceilUnits(decimal, scale))).toBe(Math.ceil(rounded) + 0);
      }),
    );
  });
});

describe('comparator-number', () => {
  const raws = fc.oneof(
    written,
    fc
      .tuple(fc.constantFrom('<', '<=', '>', '>=', '< ', '<= ', '> ', '=<', '<<', '<>', '=', ' <', '>=='), written)
      .map(([a, b]) => a + b),
  );
  const value = comparatorNumberCodec('value', VARCHAR);
  const comparator = comparatorNumberCodec('comparator', VARCHAR);

  it.each([
    ['<5', '5', '<'],
    ['<= 5.0', '5.0', '<='],
    [' >60 ', '60', '>'],
    ['>=60', '60', '>='],
    ['7.2', '7.2', undefined],
    ['<', undefined, undefined],
    ['< <5', undefined, undefined],
    ['Negative', undefined, undefined],
    [null, undefined, undefined],
  ])('reads %j as %j with %j', (raw, number, sign) => {
    expect(value.decode(raw)).toEqual(number === undefined ? undefined : { decimal: number });
    expect(comparator.decode(raw)).toBe(sign);
  });

  it('keeps the law: an interval matches a bound that it overlaps', () => {
    const rows = table('VARCHAR(40)');
    fc.assert(
      fc.property(rowsOf(nullable(raws)), fc.gen(), (some, g) => {
        rows.fill(some.map(one => [one]));
        expectPresent(value, rows);
        expectPresent(comparator, rows);
        const numbers = decodeAll(value, rows);
        const signs = decodeAll(comparator, rows);
        const facts = numbers.map((number, i) =>
          number === undefined
            ? undefined
            : { ...(number as Compared), ...(signs[i] === undefined ? {} : { comparator: String(signs[i]) }) },
        );
        for (let i = 0; i < 6; i++) expectMatch(value, rows, g(numberCriterion, facts), 'UTC', facts);
        expectMatch(comparator, rows, g(exact, [...signs, '<', '>=']));
        expectOrder(value, rows, [0, 5, 4.95]);
      }),
      RUNS,
    );
  });

  it('sorts by the number, ignoring the comparator', () => {
    const rows = table('VARCHAR(40)');
    rows.fill([['10'], ['<9.5'], ['>= 100'], ['<=2'], ['-1']]);
    expectOrder(value, rows);
    const [by] = value.order?.by(rows.columns) ?? [];
    if (by === undefined) throw new Error('no order');
    const sorted = rows.values([by], [{ by, descending: false }]);
    expect(sorted.map(([number]) => Number(number))).toEqual([-1, 2, 9.5, 10, 100]);
  });

  it.each([
    [[{ op: '<', at: '6' }], true],
    [[{ op: '>', at: '3' }], true],
    [[{ op: '>', at: '5' }], false],
    [[{ op: '>=', at: '5' }], false],
    [[{ op: '<', at: '3' }], true],
    [
      [
        { op: '>=', at: '4.5' },
        { op: '<', at: '5.5' },
      ],
      false,
    ],
  ] as const)('finds `<5` for %j: %j', (edges, found) => {
    const rows = table('VARCHAR(40)');
    rows.fill([['<5']]);
    const predicate = value.match(rows.columns, { kind: 'number', any: [edges] }, CLOCK);
    expect(predicate && rows.select(predicate)).toEqual(found ? [0] : []);
  });
});

describe('range-text', () => {
  it.each([
    ['3.5-5.1', '3.5', '5.1'],
    [' 3.5 - 5.10 ', '3.5', '5.10'],
    ['<200', undefined, '200'],
    ['<= 200', undefined, '200'],
    ['>=60', '60', undefined],
    ['> 60', '60', undefined],
    ['3.5-', undefined, undefined],
    ['-5', undefined, undefined],
    ['1-2-3', undefined, undefined],
    ['neg', undefined, undefined],
    ['', undefined, undefined],
    [null, undefined, undefined],
  ])('reads %j as from %j to %j', (raw, low, high) => {
    const decimal = (digits: string | undefined) => (digits === undefined ? undefined : { decimal: digits });
    expect(rangeTextCodec('low').decode(raw)).toEqual(decimal(low));
    expect(rangeTextCodec('high').decode(raw)).toEqual(decimal(high));
  });

  it('is present exactly where it reads something, and has no inverse', () => {
    const rows = table('VARCHAR(80)');
    const raws = fc.oneof(
      written,
      fc.tuple(written, fc.constantFrom('-', ' - ', '--', '<', '>='), written).map(parts => parts.join('')),
      fc.tuple(fc.constantFrom('<', '>', '<=', '>= '), written).map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(rowsOf(nullable(raws)), some => {
        rows.fill(some.map(one => [one]));
        expectPresent(rangeTextCodec('low'), rows);
        expectPresent(rangeTextCodec('high'), rows);
      }),
      RUNS,
    );
    expect(rangeTextCodec('low').match(rows.columns, { kind: 'number', any: [] }, CLOCK)).toBeUndefined();
  });
});
