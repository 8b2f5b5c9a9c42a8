import { describe, expect, test } from 'vitest';
import { declaredType } from '../../../src/sql/engines.ts';
import { parseSqliteType } from '../../../src/sql/sqlite/types.ts';

const kinds: readonly (readonly [kind: string, ...declared: string[]])[] = [
  [
    'text',
    'TEXT',
    'LONGTEXT',
    'VARCHAR2(20)',
    'CLOB',
    "ENUM('M','F')",
    'NVARCHAR(MAX)',
    'character varying(9)',
    '',
    'STRING',
  ],
  [
    'integer',
    'INT',
    'INTEGER',
    'INT(11) UNSIGNED',
    'INT2',
    'INT8',
    'BIGINT',
    'tinyint(1)',
    'MEDIUMINT',
    'UNSIGNED BIG INT',
  ],
  ['float', 'REAL', 'DOUBLE', 'DOUBLE PRECISION', 'FLOAT(24)', 'FLOAT8'],
  ['decimal', 'NUMBER(9,2)', 'DECIMAL(18, 4)', 'NUMERIC(5)', 'MONEY', 'NUMERIC', 'DECIMAL', 'NUMBER'],
  ['bit', 'BIT', 'BOOLEAN', 'bool'],
  ['datetime', 'DATETIME', 'TIMESTAMP', 'TIMESTAMP(6) WITH TIME ZONE', 'timestamp without time zone', 'DATETIME2(3)'],
  ['date', 'DATE', 'date'],
  ['time', 'TIME', 'TIME(0)'],
  ['binary', 'BLOB', 'LONGBLOB', 'VARBINARY(16)', 'BYTEA', 'ROWVERSION'],
  ['uuid', 'UNIQUEIDENTIFIER', 'UUID'],
];

describe('declared types of SQLite files', () => {
  test.each(kinds)('%s', (kind, ...declared) => {
    expect(declared.map(one => [one, parseSqliteType(one)?.kind])).toEqual(declared.map(one => [one, kind]));
  });

  test('an unknown type name is read by its affinity, and not at all if that is NUMERIC', () => {
    expect(parseSqliteType('VARYINGTEXT')).toMatchObject({ kind: 'text', length: 'max' });
    expect(parseSqliteType('BIGGISHINT')).toMatchObject({ kind: 'integer', bits: 64 });
    expect(parseSqliteType('GEOGRAPHY')).toBeUndefined();
  });

  test('unsigned integers have a type for all their values', () => {
    expect(parseSqliteType('INT(10) UNSIGNED')).toMatchObject({ bits: 64 });
    expect(parseSqliteType('INT(10)')).toMatchObject({ bits: 32 });
  });

  test('the same word is another type to another engine, and keeps its spelling', () => {
    expect(declaredType('mssql', 'TIMESTAMP')).toEqual({ kind: 'binary', length: 8, declared: 'TIMESTAMP' });
    expect(declaredType('sqlite', 'TIMESTAMP')).toMatchObject({ kind: 'datetime', declared: 'TIMESTAMP' });
    expect(declaredType('mssql', 'TEXT')).toMatchObject({ lob: true });
    expect(declaredType('sqlite', 'TEXT')).not.toHaveProperty('lob');
  });
});
