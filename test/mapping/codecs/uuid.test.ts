import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uuidCodec } from '../../../src/mapping/codecs/uuid.ts';
import { idCodec } from '../../../src/mapping/id-rule.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { runsOf } from '../../share.ts';
import { exact, nullable, RUNS, text, uriBelow } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const BYTES = new Uint8Array(Buffer.from(UUID.replaceAll('-', ''), 'hex'));

describe('uuid', () => {
  it('reads upper-case text and bytes in the order of the text', () => {
    expect(uuidCodec(columnType('UNIQUEIDENTIFIER')).decode(UUID.toUpperCase())).toBe(UUID);
    expect(uuidCodec(columnType('VARBINARY(16)')).decode(BYTES)).toBe(UUID);
    expect(uuidCodec(columnType('VARBINARY(16)')).decode(BYTES.slice(0, 15))).toBeUndefined();
    expect(uuidCodec(columnType('UNIQUEIDENTIFIER')).decode(null)).toBeUndefined();
  });

  it.each([
    ['UNIQUEIDENTIFIER', fc.uuid().map(one => one.toUpperCase())],
    ['VARBINARY(16)', fc.uint8Array({ minLength: 15, maxLength: 17 })],
  ])('keeps the law for %s', (declared, raw) => {
    const rows = table(declared);
    const codec = uuidCodec(columnType(declared));
    fc.assert(
      fc.property(fc.array(nullable<string | Uint8Array>(raw), { minLength: 1, maxLength: 6 }), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        expectPresent(codec, rows);
        for (let i = 0; i < 4; i++)
          for (const criterion of [exact, uriBelow]) expectMatch(codec, rows, g(criterion, decodeAll(codec, rows)));
      }),
      RUNS,
    );
  });

  it.each([
    ['UNIQUEIDENTIFIER', fc.uuid().map(one => one.toUpperCase())],
    ['VARBINARY(16)', fc.uint8Array({ minLength: 16, maxLength: 16 })],
  ])('sorts %s as the text that it emits', (declared, raw) => {
    const rows = table(declared);
    const codec = uuidCodec(columnType(declared));
    fc.assert(
      fc.property(fc.array(nullable<string | Uint8Array>(raw), { minLength: 1, maxLength: 6 }), raws => {
        rows.fill(raws.map(one => [one]));
        expectOrder(codec, rows, ['', UUID, 'b', 'zz']);
        const [by] = codec.order?.by(rows.columns) ?? [];
        expect(rows.values(by ? [by] : []).map(([text]) => text ?? undefined)).toEqual(decodeAll(codec, rows));
      }),
      RUNS,
    );
  });

  it('reports that no index serves if rows have letters of either case', () => {
    const inverse = (letters?: 'any') => uuidCodec({ kind: 'uuid', ...(letters && { letters }) }).inverse;
    expect([inverse(), inverse('any')]).toEqual(['indexed', 'computed']);
  });

  it('finds nothing for an upper-case spelling, which it never emits', () => {
    const { columns } = table('UNIQUEIDENTIFIER');
    const codec = uuidCodec(columnType('UNIQUEIDENTIFIER'));
    expect(codec.match(columns, { kind: 'exact', text: UUID.toUpperCase() }, CLOCK)).toEqual({ kind: 'false' });
  });
});

describe('keys in ids', () => {
  const keys: readonly (readonly [string, string | undefined, fc.Arbitrary<SqlValue>])[] = [
    ['VARCHAR(20)', undefined, text],
    ['VARCHAR(20)', 'escaped', text],
    ['INT', undefined, fc.integer()],
    ['TINYINT', undefined, fc.nat(255)],
    ['BIGINT', undefined, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)],
    ['DECIMAL(18,0)', undefined, fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }).map(String)],
    ['UNIQUEIDENTIFIER', undefined, fc.uuid().map(one => one.toUpperCase())],
    ['BINARY(16)', undefined, fc.uint8Array({ minLength: 16, maxLength: 16 })],
  ];

  it.each(keys)('of %s by %s are read back as they were, without trailing blanks', (declared, name, raws) => {
    const codec = idCodec(name, columnType(declared));
    if (!codec) throw new Error('no codec');
    fc.assert(
      fc.property(raws, raw => {
        const part = codec.print(raw as string);
        if (part === undefined) return;
        expect(part).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
        expect(codec.parse(part)).toEqual(typeof raw === 'string' ? raw.replace(/ +$/, '') : raw);
      }),
      { numRuns: runsOf(300) },
    );
  });

  it.each(keys)('of %s by %s match their own spelling only', (declared, name, raws) => {
    const codec = idCodec(name, columnType(declared));
    if (!codec) throw new Error('no codec');
    const parts = fc.oneof(
      fc.constantFrom(
        '007',
        '+7',
        '-0',
        '0',
        '1.0',
        '256',
        '2147483648',
        '9223372036854775808',
        UUID,
        UUID.toUpperCase(),
        '',
        '.',
        '.2',
        '.2e',
        '.2E',
        '.41',
        '.C3',
        'a b',
        'a_b',
        '1e3',
      ),
      raws.map(raw => codec.print(raw as string) ?? ''),
    );
    fc.assert(
      fc.property(parts, part => {
        const raw = codec.parse(part);
        if (raw !== undefined) expect(codec.print(raw)).toBe(part);
      }),
      { numRuns: runsOf(300) },
    );
  });

  it.each([
    ['INT', '007'],
    ['INT', '2147483648'],
    ['TINYINT', '-1'],
    ['BIGINT', '9223372036854775808'],
    ['DECIMAL(3,0)', '1000'],
    ['DECIMAL(9,2)', '1.5'],
    ['DECIMAL(9,2)', '12345678.50'],
    ['DECIMAL(9,2)', '-0.00'],
    ['UNIQUEIDENTIFIER', UUID.toUpperCase()],
    ['BINARY(16)', 'x'],
    ['VARCHAR(9)', 'a_b'],
  ])('of %s are not parsed from %s', (declared, part) => {
    expect(idCodec(undefined, columnType(declared))?.parse(part)).toBeUndefined();
  });

  it.each(['DATETIMEOFFSET(7)', 'TIME(7)', 'REAL', 'VARBINARY(8)', 'BIT'])('are refused for %s', declared => {
    expect(idCodec(undefined, columnType(declared))).toBeUndefined();
  });

  it('escape what an id cannot hold', () => {
    expect(idCodec('escaped', columnType('NVARCHAR(20)'))?.print('A_1.é ')).toBe('A.5F1.2E.C3.A9');
  });
});
