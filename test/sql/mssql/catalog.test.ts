import { expect, it } from 'vitest';
import { readCatalog } from '../../../src/sql/mssql/catalog.ts';
import type { Row } from '../../../src/sql/plan.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

const OBJECTS: readonly Row[] = [
  [1, 'PT_MST', 0],
  [2, 'VIT_SGN', 1],
  [3, 'pt_mst', 2],
];
const COLUMNS: readonly Row[] = [
  [1, 'PT_NO', 'int', 4, 10, 0, 0, null],
  [1, 'MRN', 'varchar', 10, 0, 0, 1, 'SQL_Latin1_General_CP1_CI_AS'],
  [1, 'NAM', 'nvarchar', 120, 0, 0, 1, 'Latin1_General_100_CI_AS'],
  [1, 'NOTE', 'nvarchar', -1, 0, 0, 1, 'Latin1_General_100_CI_AS'],
  [1, 'U8', 'varchar', 40, 0, 0, 1, 'Latin1_General_100_CI_AS_SC_UTF8'],
  [1, 'AMT', 'decimal', 5, 9, 2, 1, null],
  [1, 'UPD', 'datetime2', 8, 27, 7, 1, null],
  [1, 'RV', 'timestamp', 8, 0, 0, 0, null],
  [1, 'GEO', 'geography', -1, 0, 0, 1, null],
  [3, 'OTHER', 'int', 4, 10, 0, 0, null],
];
const INDEXES: readonly Row[] = [
  [1, 'PK_PT', 1, 1, 'PT_NO'],
  [1, 'IX_MRN', 0, 0, 'MRN'],
  [1, 'IX_MRN', 0, 0, 'PT_NO'],
];

function script(texts: string[] = []) {
  return ({ text }: { readonly text: string }) => {
    texts.push(text);
    const rows = text.includes('sys.index_columns') ? INDEXES : text.includes('FROM sys.columns') ? COLUMNS : OBJECTS;
    return Promise.resolve(rows);
  };
}

it('describes columns, types, keys and indexes as the DDL would', async () => {
  const { tables } = await readCatalog(script());
  const table = tables.get('pt_mst');
  expect(table?.name).toBe('PT_MST');
  expect(
    [...(table?.columns.values() ?? [])].map(c => `${c.name} ${c.declared}${c.nullable ? '' : ' NOT NULL'}`),
  ).toEqual([
    'PT_NO INT NOT NULL',
    'MRN VARCHAR(10)',
    'NAM NVARCHAR(60)',
    'NOTE NVARCHAR(MAX)',
    'U8 NVARCHAR(40)',
    'AMT DECIMAL(9,2)',
    'UPD DATETIME2(7)',
    'RV ROWVERSION NOT NULL',
    'GEO GEOGRAPHY',
  ]);
  expect(table?.columns.get('geo')?.type).toBeUndefined();
  expect(table?.primaryKey).toEqual(['PT_NO']);
  expect(table?.indexes).toEqual([
    { name: 'PK_PT', columns: ['PT_NO'], unique: true },
    { name: 'IX_MRN', columns: ['MRN', 'PT_NO'], unique: false },
  ]);
});

it('takes the table of the nearest schema where a name stands in several', async () => {
  const { tables } = await readCatalog(script());
  expect([...tables.keys()]).toEqual(['pt_mst', 'vit_sgn']);
  expect(tables.get('pt_mst')?.columns.has('other')).toBe(false);
});

it('leaves out what was not asked for and what is not there', async () => {
  const { tables } = await readCatalog(script(), ['VIT_sgn', 'NOWHERE']);
  expect([...tables.keys()]).toEqual(['vit_sgn']);
});

it('asks by single SELECTs', async () => {
  const texts: string[] = [];
  await readCatalog(script(texts));
  expect(texts).toHaveLength(3);
  for (const text of texts) expect(tsqlProblems(text)).toEqual([]);
});
