/**
 * Columns of numbers as SQLite really stores them: any number in a column of any declared type, texts, BLOBs and
 * infinities. The codec emits the stored number, and searches, order and presence follow the emitted value.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanCodec } from '../../../src/mapping/codecs/boolean.ts';
import { integerTextCodec } from '../../../src/mapping/codecs/code.ts';
import { type CodeMap, codeMapCodec } from '../../../src/mapping/codecs/code-map.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { numberCodec } from '../../../src/mapping/codecs/number.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { Criterion } from '../../../src/mapping/criterion.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { printNumber } from '../../../src/sql/shared-functions.ts';
import { runsOf } from '../../share.ts';
import { dateCriterion, exact, numberCriterion, rowsOf, stringCriterion } from './arbitrary.ts';
import { decodeAll, expectMatch, expectPresent, type Stored, table } from './law.ts';
import { STORED_NUMBERS } from './stored-numbers.ts';

const DECIMAL: ColumnType = { kind: 'decimal', precision: 9, scale: 2, any: 'mixed' };
const INTEGER: ColumnType = { kind: 'integer', bits: 64, any: 'mixed' };
const FLOAT: ColumnType = { kind: 'float', any: 'mixed' };
const BIT: ColumnType = { kind: 'bit', any: 'mixed' };

/** Columns as SQLite files declare them; SQLite converts the values by the affinity of the column. */
const COLUMNS: readonly (readonly [string, ColumnType])[] = [
  ['INT', INTEGER],
  ['BIGINT', INTEGER],
  ['DECIMAL(9,2)', DECIMAL],
  ['DECIMAL(9,0)', { ...DECIMAL, scale: 0 }],
  ['NUMERIC', FLOAT],
  ['REAL', FLOAT],
  ['DOUBLE PRECISION', FLOAT],
];

/** Fails unless the codec keeps its law over random rows of the column. */
function expectLaw(
  [declared, type]: readonly [string, ColumnType],
  codec: Codec,
  criterion: (emitted: readonly unknown[]) => fc.Arbitrary<Criterion>,
  { sorts = true }: { readonly sorts?: boolean } = {},
): void {
  const rows = table({ declared, type });
  fc.assert(
    fc.property(rowsOf(STORED_NUMBERS), fc.gen(), (raws, g) => {
      rows.fill(raws.map(raw => [raw]));
      expectPresent(codec, rows);
      const values = decodeAll(codec, rows);
      for (let i = 0; i < 6; i++) expectMatch(codec, rows, g(criterion, values));
      if (sorts) expectSorted(codec, values, rows);
    }),
    { numRuns: runsOf(40) },
  );
}

/** The rows with a value are in the order of their numbers. */
function expectSorted(codec: Codec, values: readonly unknown[], of: ReturnType<typeof table>): void {
  const by = codec.order?.by(of.columns) ?? [];
  const position = { kind: 'raw' as const, parts: ['t.K'], type: INTEGER };
  const order = of.values(
    [position],
    by.map(expression => ({ by: expression, descending: false })),
  );
  const sorted = order.flatMap(([at]) => {
    const value = values[Number(at)];
    return value === undefined
      ? []
      : [Number(typeof value === 'object' ? (value as { decimal: string }).decimal : value)];
  });
  for (const [i, number] of sorted.entries()) expect(number).toBeLessThanOrEqual(sorted[i + 1] ?? Infinity);
}

describe('a number of a column that holds any', () => {
  it.each(COLUMNS)('is emitted, found and sorted as it is stored: %s', (declared, type) => {
    expectLaw([declared, type], numberCodec({ columnType: type, fhirType: 'decimal' }), numberCriterion);
  });

  it.each(COLUMNS.slice(0, 2))('is an integer if it is whole: %s', (declared, type) => {
    for (const fhirType of ['integer', 'positiveInt', 'unsignedInt'] as const)
      expectLaw([declared, type], numberCodec({ columnType: type, fhirType }), numberCriterion);
  });

  it.each(COLUMNS)('parses to exactly the stored number: %s', (declared, type) => {
    const rows = table({ declared, type });
    const codec = numberCodec({ columnType: type, fhirType: 'decimal' });
    fc.assert(
      fc.property(rowsOf(STORED_NUMBERS), raws => {
        rows.fill(raws.map(raw => [raw]));
        const kept = raws.map(raw => stored(raw));
        for (const [i, value] of decodeAll(codec, rows).entries()) {
          const number = kept[i];
          if (value === undefined) expect(number).toBeUndefined();
          else expect(same((value as { decimal: string }).decimal, number)).toBe(true);
        }
      }),
      { numRuns: runsOf(40) },
    );
  });

  it('keeps the digits that the column declares, and those beyond them', () => {
    const rows = table({ declared: 'DECIMAL(9,2)', type: DECIMAL });
    rows.fill([[12.5], [12.505], [12], [1e-7], [-0], ['12.50'], [2n ** 60n]]);
    expect(decodeAll(numberCodec({ columnType: DECIMAL, fhirType: 'decimal' }), rows)).toEqual(
      ['12.50', '12.505', '12.00', '0.0000001', '0.00', '12.50', '1152921504606846976.00'].map(decimal => ({
        decimal,
      })),
    );
  });
});

describe('codecs of whole numbers, on a column that holds any', () => {
  const map: CodeMap = {
    name: 'm',
    rows: new Map([
      ['1', { code: 'one' }],
      ['5', { code: 'five' }],
      ['1.5', { code: 'half' }],
      ['9007199254740993', { code: 'large' }],
    ]),
    blank: { code: 'none' },
    else: { kind: 'local', system: 'http://x' },
    fold: false,
  };
  const made = (name: string, fhirType: string, options?: unknown): Codec => {
    const found = CODECS[name]?.make(options, undefined, { zone: 'UTC', fhirType, columnTypes: [INTEGER] });
    if (!found || !('codec' in found)) throw new Error('no codec');
    return found.codec;
  };
  const dates = (emitted: readonly unknown[]) => dateCriterion(emitted, 'UTC', [0, Date.UTC(2024, 0, 15)]);

  it('text', () => {
    for (const [declared, type] of COLUMNS.slice(0, 4))
      expectLaw(
        [declared, type],
        integerTextCodec(type),
        emitted => fc.oneof(exact(emitted), stringCriterion(emitted)),
        {
          sorts: false,
        },
      );
  });

  it('code map', () => {
    const codec = codeMapCodec({ map, facet: 'code', columnType: INTEGER, boolean: false });
    expectLaw(['INT', INTEGER], codec, emitted => exact([...emitted, 'one', 'half', 'large', 'none']), {
      sorts: false,
    });
  });

  it('boolean', () => {
    const codec = booleanCodec({ columnType: BIT, true: ['1'], false: ['0'] });
    expectLaw(['BIT', BIT], codec, () => exact(['true', 'false']), { sorts: false });
  });

  it('ymd8', () => expectLaw(['INT', INTEGER], made('ymd8', 'date'), dates, { sorts: false }));

  it('epoch', () => expectLaw(['INT', INTEGER], made('epoch', 'dateTime'), dates, { sorts: false }));
});

/** The stored number, whether its text is exact or not. */
function stored(raw: Stored): number | bigint | undefined {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw !== 'string' || !/^\s*[+-]?\d+(\.\d*)?(e\d+)?\s*$/i.test(raw)) return undefined;
  return /^\s*-?\d+\s*$/.test(raw) ? BigInt(raw.trim()) : Number(raw);
}

/** REAL stores a large integer as the nearest double. */
function same(digits: string, number: number | bigint | undefined): boolean {
  if (typeof number === 'number') return Number(digits) === number;
  return (
    number !== undefined && (digits.replace(/\.0+$/, '') === String(number) || digits === printNumber(Number(number)))
  );
}
