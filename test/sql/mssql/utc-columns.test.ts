/** Columns of DATETIME2 in UTC: they mean instants like DATETIMEOFFSET columns, and are compared unconverted. */
import { expect, it } from 'vitest';
import { compare, value } from '../../../src/sql/construct.ts';
import type { Expression } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { textForm } from '../../../src/sql/mssql/forms.ts';
import { parseMssqlType, printMssqlType } from '../../../src/sql/mssql/types.ts';
import { renderPredicate } from '../../../src/sql/render.ts';

const type = parseMssqlType('DATETIME2(7) UTC');

it('UTC is part of a declared DATETIME2, and of no other type', () => {
  expect(type).toEqual({ kind: 'instant', fraction: 7, utc: true });
  expect(type && printMssqlType(type)).toBe('datetime2(7)');
  for (const other of ['DATETIME UTC', 'DATE UTC', 'DATETIMEOFFSET(7) UTC', 'INT UTC', 'DATETIME2(7) UTC CP1250'])
    expect(parseMssqlType(other)).toBeUndefined();
});

it('they are compared and fetched without an offset, so that an index serves', () => {
  if (!type) throw new Error('no type');
  const column: Expression = { kind: 'column', alias: identifier('t'), column: identifier('SYS_FROM'), type };
  const { text, parameters } = renderPredicate(
    compare(column, '>=', value('2024-03-14 12:30:00.1234567', type)),
    MSSQL,
  );
  expect(text).toBe('t.SYS_FROM >= @p0');
  expect(parameters.map(one => one.type)).toEqual([type]);
  expect(textForm('t.SYS_FROM', type)).toBe('CONVERT(nvarchar(27), t.SYS_FROM, 121)');
});
