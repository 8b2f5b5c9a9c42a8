/** Messages name types as the connected database declares them, and not as another engine would. */
import { expect, test } from 'vitest';
import { parameterLines } from '../../../src/explain/sql-text.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import type { Catalog, ColumnInfo } from '../../../src/sql/catalog.ts';
import { BYTES, INTEGER, NUMBER, nameOfType, UNICODE } from '../../../src/sql/column-type.ts';
import { declaredType } from '../../../src/sql/engines.ts';
import { load, SMALL } from './problems-of.ts';

type Engine = 'sqlite' | 'mssql';

/** Declarations that only one engine has, at least one of each kind, and a pattern for the other engine's words. */
const ENGINES: Readonly<Record<Engine, { readonly declared: readonly string[]; readonly foreign: RegExp }>> = {
  sqlite: {
    declared: [
      ...[
        'TEXT',
        'LONGTEXT',
        'CLOB',
        '',
        'INTEGER',
        'MEDIUMINT UNSIGNED',
        'NUMERIC',
        'NUMBER(9,2)',
        'REAL',
        'DOUBLE PRECISION',
      ],
      ...['BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME', 'GUID', 'BLOB', 'BYTEA'],
    ],
    foreign:
      /\b(?:n?varchar|n?char|ntext|tinyint|smallint|bigint|int|bit|float|decimal\(|money|datetime2|smalldatetime|uniqueidentifier|(?:var)?binary|rowversion|image)\b/i,
  },
  mssql: {
    declared: [
      ...[
        'NVARCHAR(40)',
        'CHAR(8)',
        'TEXT',
        'INT',
        'TINYINT',
        'BIGINT',
        'DECIMAL(9,2)',
        'MONEY',
        'FLOAT',
        'BIT',
        'DATE',
      ],
      ...['DATETIME', 'DATETIME2(7)', 'SMALLDATETIME', 'TIME(7)', 'UNIQUEIDENTIFIER', 'VARBINARY(16)', 'ROWVERSION'],
    ],
    foreign: /\b(?:LONGTEXT|CLOB|BLOB|INTEGER|NUMERIC|NUMBER|BOOLEAN|GUID|BYTEA|DOUBLE)\b/,
  },
};

function catalogOf(engine: Engine, declared: readonly string[]): Catalog {
  const columns = declared.map((text, i): [string, ColumnInfo] => {
    return [`c${i}`, { name: `C${i}`, type: declaredType(engine, text), declared: text, nullable: true }];
  });
  const key: ColumnInfo = { name: 'NO', type: declaredType(engine, 'INT'), declared: 'INT', nullable: false };
  const table = { name: 'T', columns: new Map([['no', key], ...columns]), primaryKey: ['NO'], indexes: [] };
  return { engine, tables: new Map([['t', table]]) };
}

const mapping = (name: string, element: string, where = ''): string => `mapping: ${name}
resource: Patient
source: { table: T, as: t, key: [NO]${where} }
id: "${name}-{NO}"
elements: { ${element} }
`;

/** Messages that refuse each column: by each codec and element, in conditions with each other, and after text steps. */
function mistakes(declared: readonly string[]): Readonly<Record<string, string>> {
  const columns = declared.map((_, i) => `C${i}`);
  const elements = ['birthDate', 'active', 'deceasedDateTime', 'multipleBirthInteger', 'gender', 'language'];
  const bound = columns.flatMap(column => [
    ...elements.map(element => `${element}: { from: ${column} }`),
    ...Object.keys(CODECS).map(codec => `language: { from: ${column}, via: ${codec} }`),
    ...Object.keys(CODECS).map(codec => `birthDate: { from: ${column}, via: [upper, ${codec}] }`),
  ]);
  const compared = columns.flatMap((one, i) =>
    columns.slice(i + 1).map(other => `, where: { ${one}: { before: ${other} } }`),
  );
  return Object.fromEntries([
    ...bound.map((element, i) => [`b${i}.yaml`, mapping(`b${i}`, element)]),
    ...compared.map((where, i) => [`c${i}.yaml`, mapping(`c${i}`, 'active: "true"', where)]),
    ...['nothing', 'int(', 'geography'].map((type, i) => [
      `s${i}.yaml`,
      mapping(`s${i}`, `active: { sql: "1", type: "${type}", via: boolean }`),
    ]),
  ]);
}

test.each(['sqlite', 'mssql'] as const)('problems of a pack on %s', engine => {
  const { declared, foreign } = ENGINES[engine];
  const files = mistakes(declared);
  const { problems } = load(
    { 'pack.yaml': SMALL.replace('schema: "4.1"\n', ''), ...files },
    catalogOf(engine, declared),
  );
  const messages = problems.map(formatProblem);
  expect(messages.length).toBeGreaterThan(300);
  expect(messages.filter(message => message.includes('does not read')).length).toBeGreaterThan(100);
  expect(messages.filter(message => message.includes('cannot be compared')).length).toBeGreaterThan(50);
  expect(messages.filter(message => message.includes('not an SQL type')).length).toBeGreaterThan(1);
  // A column has its name in the database, `{ sql }` its name in the mapping.
  const own = messages.map(message => message.replaceAll(/\bint\(|"nothing"/g, ''));
  expect(own.filter(message => foreign.test(message))).toEqual([]);
});

test.each(['sqlite', 'mssql'] as const)('types of parameters have their names in explain, on %s', engine => {
  const { declared, foreign } = ENGINES[engine];
  const types = [...declared.flatMap(text => declaredType(engine, text) ?? []), INTEGER, UNICODE, NUMBER, BYTES];
  const lines = parameterLines(
    engine,
    types.map((type, i) => ({ name: `p${i}`, value: null, type })),
    false,
  );
  expect(lines.length).toBeGreaterThan(4);
  expect(lines.filter(line => foreign.test(line))).toEqual([]);
});

test('an undeclared type has a descriptive name', () => {
  expect([INTEGER, UNICODE, NUMBER, BYTES].map(nameOfType)).toEqual(['a whole number', 'a text', 'a decimal', 'bytes']);
  expect(nameOfType({ ...UNICODE, declared: '' })).toBe('a text');
});
