import { describe, expect, test } from 'vitest';
import { readLiteral } from '../../../src/mapping/load/rows/literal.ts';
import { globProblem } from '../../../src/mapping/load/rows/pattern.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';

function literal(text: string, declared: string): string | number | undefined {
  const type = parseMssqlType(declared);
  if (!type) throw new TypeError(declared);
  return readLiteral(text, type, 'mssql');
}

describe('a literal has the form of stored values', () => {
  test.each([
    ['01', 'CHAR(2)', '01'],
    ['', 'VARCHAR(9)', ''],
    ['007', 'INT', 7],
    ['-5', 'SMALLINT', -5],
    ['255', 'TINYINT', 255],
    ['9223372036854775807', 'BIGINT', '9223372036854775807'],
    ['007', 'BIGINT', '7'],
    ['true', 'BIT', 1],
    ['0', 'BIT', 0],
    ['0', 'DECIMAL(9,2)', '0.00'],
    ['012.50', 'DECIMAL(9,2)', '12.50'],
    ['12.500', 'DECIMAL(9,2)', '12.50'],
    ['7', 'DECIMAL(9,0)', '7'],
    ['1.5e3', 'FLOAT', 1500],
    ['20240229', 'DATE', '2024-02-29'],
    ['2024-02-29', 'DATETIME', '2024-02-29 00:00:00.000'],
    ['17530101', 'DATETIME2(0)', '1753-01-01 00:00:00'],
    ['2024-02-29T08:30', 'SMALLDATETIME', '2024-02-29 08:30:00'],
    ['2024-02-29 08:30:15.5', 'DATETIME2(7)', '2024-02-29 08:30:15.5000000'],
    ['08:30', 'TIME', '08:30'],
    ['0f8fad5b-d9cb-469f-a165-70867728950e', 'UNIQUEIDENTIFIER', '0F8FAD5B-D9CB-469F-A165-70867728950E'],
  ])('%j for %s is %j', (text, declared, expected) => {
    expect(literal(text, declared)).toBe(expected);
  });

  test.each([
    ['256', 'TINYINT'],
    ['2147483648', 'INT'],
    ['9223372036854775808', 'BIGINT'],
    ['1.5', 'INT'],
    ['1e3', 'INT'],
    ['2', 'BIT'],
    ['1.234', 'DECIMAL(9,2)'],
    ['+5', 'DECIMAL(9,2)'],
    ['2023-02-29', 'DATE'],
    ['20241301', 'DATE'],
    ['2024-01-01 24:00', 'DATETIME'],
    ['soon', 'DATETIME'],
    ['25:00', 'TIME'],
    ['0f8fad5b', 'UNIQUEIDENTIFIER'],
    ['00', 'VARBINARY(16)'],
  ])('%j is refused for %s', (text, declared) => {
    expect(literal(text, declared)).toBeUndefined();
  });
});

describe('a pattern', () => {
  test.each(['A*', '?[0-9]', '[^ab]*', '50%_', '[A-Z0-9]', 'a-b', 'a^', '[$]', '[^]'])(
    '%s can be written for both engines',
    pattern => {
      expect(globProblem(pattern)).toBeUndefined();
    },
  );

  test.each(['', '[', 'a]', '[]', '[a', '[[]', '[]a]', '[a-]', 'a\u0000'])('%j cannot', pattern => {
    expect(globProblem(pattern)).toBeTypeOf('string');
  });
});
