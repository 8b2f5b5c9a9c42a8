/**
 * How parameters reach the server: the declarations of sp_executesql as the driver sends them.
 */
import { expect, it } from 'vitest';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { compare, equals, value } from '../../../src/sql/construct.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { bindParameter } from '../../../src/sql/mssql/bind.ts';
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
  ['BIGINT', '9007199254740993', 'bigint'],
  ['DECIMAL(9,2)', '12.50', 'decimal(38, 2)'],
  ['DATE', '2024-03-10', 'date'],
  ['DATETIME', '2024-03-10 02:30:00.000', 'datetime'],
  ['DATETIME', '1000-01-01 00:00:00.000', 'datetime2(3)'],
  ['SMALLDATETIME', '2024-03-10 02:30:00', 'smalldatetime'],
  ['DATETIME2(7)', '2024-03-10 02:30:00.1234567', 'datetime2(7)'],
  ['UNIQUEIDENTIFIER', '00000000-0000-0000-0000-00000000000A', 'uniqueidentifier'],
  ['VARBINARY(16)', Buffer.from([1, 2]), 'varbinary(16)'],
])('a value beside %s: %s is declared %s', async (declared, content: SqlValue, expected) => {
  const { database, endpoint } = await openScripted(() => undefined);
  const type = typeOf(declared);
  const of = column('X', type);
  await database.query(
    planOf(type.kind === 'text' ? equals(of, value(content, type)) : compare(of, '=', value(content, type))),
  );
  const asked = endpoint.asked.findLast(({ kind }) => kind === 'rpc');
  const declarations = [...(asked?.declared ?? '').matchAll(/@p\d+ ([a-z0-9]+(?:\([^)]*\))?)/g)].map(found => found[1]);
  expect(declarations).toContain(expected);
  expect(asked?.text).not.toContain(String(content));
});

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

it('writes a zoneless time as it stands, wherever this process runs', () => {
  const bound = bindParameter({ name: 'p0', value: '2024-03-10 02:30:00.123', type: typeOf('DATETIME') });
  expect(bound.value).toBeInstanceOf(Date);
  expect(bound.value instanceof Date && bound.value.toISOString()).toBe('2024-03-10T02:30:00.123Z');
});

it('refuses what is no moment, without repeating it', () => {
  expect(() => bindParameter({ name: 'p0', value: 'canary', type: typeOf('DATE') })).toThrow(
    new TypeError('a parameter is no date or time'),
  );
});

it.each(['INT', 'VARCHAR(8)', 'DATE', 'DECIMAL(9,2)', 'VARBINARY(8)', 'UNIQUEIDENTIFIER', 'BIT', 'TIME(3)', 'FLOAT'])(
  'NULL beside %s is NULL',
  declared => {
    expect(bindParameter({ name: 'p0', value: null, type: typeOf(declared) }).value).toBeNull();
  },
);

it.each([
  ['9223372036854775807', 'bigint', undefined],
  ['-9223372036854775808', 'bigint', undefined],
  ['9223372036854775808', 'decimal(38, 0)', 9_223_372_036_854_775_808n],
  ['-9223372036854775809', 'decimal(38, 0)', 9_223_372_036_854_777_856n],
  ['99999999999999999999999999999999999999999999', 'decimal(38, 0)', 9_223_372_036_854_775_808n],
])('%s beside an integer is a %s that no integer beyond its range equals', async (content, expected, sent) => {
  const { database, endpoint } = await openScripted(() => undefined);
  const big = typeOf('BIGINT');
  expect(await database.query(planOf(compare(column('X', big), '=', value(content, big))))).toEqual([[1]]);
  const asked = endpoint.asked.findLast(({ kind }) => kind === 'rpc');
  expect(asked?.declared).toContain(expected);
  if (sent === undefined) return;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(sent);
  expect(asked?.bytes.includes(bytes)).toBe(true);
});
