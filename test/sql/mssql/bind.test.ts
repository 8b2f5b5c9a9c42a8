/** Tests how parameters reach the server: the declarations of sp_executesql as the driver sends them. */
import { expect, it } from 'vitest';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { compare, equals, value } from '../../../src/sql/construct.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { bindParameter } from '../../../src/sql/mssql/bind.ts';
import { exactDecimal } from '../../../src/sql/mssql/exact-decimal.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';
import { column, openScripted, planOf } from './open.ts';

function typeOf(declared: string): ColumnType {
  const type = parseMssqlType(declared);
  if (!type) throw new Error(`no type ${declared}`);
  return type;
}

it.each([
  ['VARCHAR(8)', 'Mxyz', 'varchar(8)'],
  ['CHAR(8)', 'Mxyz', 'varchar(8)'],
  ['VARCHAR(8)', 'longer than the column', 'varchar(8000)'],
  ['VARCHAR(MAX)', 'Mxyz', 'varchar(max)'],
  ['NVARCHAR(60)', 'Élodie', 'nvarchar(60)'],
  ['VARCHAR(8)', 'Łódź', 'nvarchar(8)'],
  ['INT', 4711, 'int'],
  ['INT', 2147483647, 'int'],
  ['INT', 2147483648, 'bigint'],
  ['INT', -2147483648, 'int'],
  ['INT', -2147483649, 'bigint'],
  ['BIGINT', '9007199254740993', 'bigint'],
  ['DECIMAL(9,2)', '12.50', 'decimal(38, 2)'],
  ['DECIMAL(9,2)', '12', 'decimal(38, 2)'],
  ['DECIMAL(9,2)', '12.505', 'decimal(38, 3)'],
  ['DECIMAL(9,2)', '1234567890123456789012345678901234567.5', 'decimal(38, 1)'],
  ['FLOAT', 12.25, 'float'],
  ['REAL', 5.1, 'real'],
  ['FLOAT(24)', 5.1, 'real'],
  ['FLOAT(25)', 5.1, 'float'],
  ['REAL', 1e39, 'float'],
  ['DATE', '2024-03-10', 'date'],
  ['DATETIME', '2024-03-10 02:30:00.000', 'datetime'],
  ['DATETIME', '1753-01-01 00:00:00.000', 'datetime'],
  ['DATETIME', '1752-12-31 00:00:00.000', 'datetime2(3)'],
  ['SMALLDATETIME', '2024-03-10 02:30:00', 'smalldatetime'],
  ['SMALLDATETIME', '1900-01-01 00:00:00', 'smalldatetime'],
  ['SMALLDATETIME', '1899-12-31 00:00:00', 'datetime2(3)'],
  ['SMALLDATETIME', '2079-06-07 00:00:00', 'datetime2(3)'],
  ['DATETIME2(7)', '2024-03-10 02:30:00.1234567', 'datetime2(7)'],
  ['DATETIMEOFFSET(7)', '2024-03-10 07:30:00.1234567', 'datetimeoffset(7)'],
  ['DATETIMEOFFSET(0)', '2024-03-10 07:30:00', 'datetimeoffset(0)'],
  ['DATETIME2(7) UTC', '2024-03-10 07:30:00.1234567', 'datetime2(7)'],
  ['UNIQUEIDENTIFIER', '00000000-0000-0000-0000-00000000000A', 'uniqueidentifier'],
  ['VARBINARY(16)', Buffer.from([1, 2]), 'varbinary(16)'],
])('a value compared with %s: %s is declared %s', async (declared, content: SqlValue, expected) => {
  const { declarations, text } = await sentFor(declared, content);
  expect(declarations).toContain(expected);
  expect(text).not.toContain(String(content));
});

/** Just inside and outside the range of a type. */
it.each([
  ['VARCHAR(8)', 8, 'varchar(8)'],
  ['VARCHAR(8)', 9, 'varchar(8000)'],
  ['VARCHAR(8)', 8000, 'varchar(8000)'],
  ['VARCHAR(8)', 8001, 'varchar(max)'],
  ['NVARCHAR(8)', 4000, 'nvarchar(4000)'],
  ['NVARCHAR(8)', 4001, 'nvarchar(max)'],
])('a text compared with %s, of %i characters, is declared %s', async (declared, length, expected) => {
  expect((await sentFor(declared, 'x'.repeat(length))).declarations).toContain(expected);
});

async function sentFor(
  declared: string,
  content: SqlValue,
): Promise<{ readonly declarations: readonly (string | undefined)[]; readonly text: string | undefined }> {
  const { database, endpoint } = await openScripted(() => undefined);
  const type = typeOf(declared);
  const of = column('X', type);
  await database.query(
    planOf(type.kind === 'text' ? equals(of, value(content, type)) : compare(of, '=', value(content, type))),
  );
  const asked = endpoint.asked.findLast(({ kind }) => kind === 'rpc');
  const declarations = [...(asked?.declared ?? '').matchAll(/@p\d+ ([a-z0-9]+(?:\([^)]*\))?)/g)].map(found => found[1]);
  return { declarations, text: asked?.text };
}

it('keeps all digits of a 64-bit integer and of a moment', async () => {
  const { database, endpoint } = await openScripted(() => undefined);
  const big = typeOf('BIGINT');
  await database.query(planOf(compare(column('X', big), '=', value('9007199254740993', big))));
  const sent = Buffer.alloc(8);
  sent.writeBigInt64LE(9_007_199_254_740_993n);
  expect(endpoint.asked.findLast(({ kind }) => kind === 'rpc')?.bytes.includes(sent)).toBe(true);

  const exact = typeOf('DATETIME2(7)');
  await database.query(planOf(compare(column('X', exact), '=', value('1970-01-01 00:00:00.1234567', exact))));
  const ticks = Buffer.alloc(5);
  ticks.writeUIntLE(1_234_567, 0, 5);
  expect(endpoint.asked.findLast(({ kind }) => kind === 'rpc')?.bytes.includes(ticks)).toBe(true);
});

it('writes a zoneless time unchanged, in any process time zone', () => {
  const bound = bindParameter({ name: 'p0', value: '2024-03-10 02:30:00.123', type: typeOf('DATETIME') });
  expect(bound.value).toBeInstanceOf(Date);
  expect(bound.value instanceof Date && bound.value.toISOString()).toBe('2024-03-10T02:30:00.123Z');
});

it('refuses an invalid time, without repeating it', () => {
  expect(() => bindParameter({ name: 'p0', value: 'canary', type: typeOf('DATE') })).toThrow(
    new TypeError('a parameter is no date or time'),
  );
});

it.each(['INT', 'VARCHAR(8)', 'DATE', 'DECIMAL(9,2)', 'VARBINARY(8)', 'UNIQUEIDENTIFIER', 'BIT', 'TIME(3)', 'FLOAT'])(
  'NULL compared with %s is NULL',
  declared => {
    expect(bindParameter({ name: 'p0', value: null, type: typeOf(declared) }).value).toBeNull();
  },
);

it.each([
  ['9223372036854775807', 'bigint', undefined],
  ['-9223372036854775808', 'bigint', undefined],
  ['9223372036854775808', 'decimal(38, 0)', 9_223_372_036_854_775_808n],
  ['-9223372036854775809', 'decimal(38, 0)', 9_223_372_036_854_775_809n],
  ['99999999999999999999999999999999999999999999', 'decimal(38, 0)', 10n ** 38n - 1n],
])('%s compared with an integer is sent as %s, without overflow', async (content, expected, sent) => {
  const { database, endpoint } = await openScripted(() => undefined);
  const big = typeOf('BIGINT');
  expect(await database.query(planOf(compare(column('X', big), '=', value(content, big))))).toEqual([[1]]);
  const asked = endpoint.asked.findLast(({ kind }) => kind === 'rpc');
  expect(asked?.declared).toContain(expected);
  if (sent === undefined) return;
  expect(asked?.bytes.includes(unitsOf(sent))).toBe(true);
});

/** The unscaled integer of a decimal of 38 digits, as TDS encodes it. */
function unitsOf(units: bigint): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(units & 0xffff_ffff_ffff_ffffn);
  bytes.writeBigUInt64LE(units >> 64n, 8);
  return bytes;
}

it.each([
  ['0.1', 'DECIMAL(9,1)', 'decimal(38, 1)', 1, 1n],
  ['-0.05', 'DECIMAL(9,2)', 'decimal(38, 2)', 0, 5n],
  ['12345678901234567.89', 'DECIMAL(19,2)', 'decimal(38, 2)', 1, 1_234_567_890_123_456_789n],
  [
    '-12345678901234567890123456789012345678',
    'DECIMAL(38,0)',
    'decimal(38, 0)',
    0,
    12345678901234567890123456789012345678n,
  ],
  ['0.30000000000000004', 'DECIMAL(38,18)', 'decimal(38, 18)', 1, 300_000_000_000_000_040n],
  ['1.0000000000000000000000000000000000000001', 'DECIMAL(38,10)', 'decimal(38, 37)', 1, 10n ** 37n + 1n],
])('%s compared with %s is sent as %s with all digits', async (content, declared, expected, sign, units) => {
  const { database, endpoint } = await openScripted(() => undefined);
  const type = typeOf(declared);
  await database.query(planOf(compare(column('X', type), '=', value(content, type))));
  const asked = endpoint.asked.findLast(({ kind }) => kind === 'rpc');
  expect(asked?.declared).toContain(expected);
  expect(asked?.bytes.includes(Buffer.concat([Buffer.from([17, sign]), unitsOf(units)]))).toBe(true);
  expect(asked?.text).not.toContain(content);
});

it('all numbers compared with a decimal column have one declaration, so one plan', async () => {
  const { database, endpoint } = await openScripted(() => undefined);
  const type = typeOf('DECIMAL(12,4)');
  for (const content of ['7', '7.5', '-0.25', '99999999.9999', '0'])
    await database.query(planOf(compare(column('X', type), '>', value(content, type))));
  const asked = endpoint.asked.filter(({ kind }) => kind === 'rpc').slice(-5);
  expect(new Set(asked.map(({ text, declared }) => `${text} ${declared}`)).size).toBe(1);
});

it('an exact decimal has no exponent, and NULL has no digits', () => {
  expect(() => exactDecimal('1e5', 38, 2)).toThrow(new TypeError('a decimal parameter is no number'));
  expect(exactDecimal(null, 9, 2).value).toBeNull();
});
