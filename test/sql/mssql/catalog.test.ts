import { expect, it } from 'vitest';
import { findTable } from '../../../src/sql/catalog.ts';
import { INTEGER } from '../../../src/sql/column-type.ts';
import { readCatalog } from '../../../src/sql/mssql/catalog.ts';
import type { Row, Statement } from '../../../src/sql/plan.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

const OBJECTS: readonly Row[] = [
  [1, 'PT_MST', 0, 'ehr'],
  [2, 'VIT_SGN', 1, 'dbo'],
  [3, 'pt_mst', 2, 'Other'],
];
const COLUMNS: readonly Row[] = [
  [1, 'PT_NO', 'int', 4, 10, 0, 0, null],
  [1, 'MRN', 'varchar', 10, 0, 0, 1, 'SQL_Latin1_General_CP1_CI_AS'],
  [1, 'NAM', 'nvarchar', 120, 0, 0, 1, 'Latin1_General_100_CI_AS'],
  [1, 'NOTE', 'nvarchar', -1, 0, 0, 1, 'Latin1_General_100_CI_AS'],
  [1, 'U8', 'varchar', 40, 0, 0, 1, 'Latin1_General_100_CI_AS_SC_UTF8'],
  [1, 'AMT', 'decimal', 5, 9, 2, 1, null],
  [1, 'UPD', 'datetime2', 8, 27, 7, 1, null],
  [1, 'SEEN', 'datetimeoffset', 8, 30, 3, 1, null],
  // Period columns of a temporal table, the second of which is hidden.
  [1, 'SYS_FROM', 'datetime2', 8, 27, 7, 0, null, null, 0, 0, 0, 1],
  [1, 'SYS_TO', 'datetime2', 8, 19, 0, 0, null, null, 0, 0, 0, 1],
  [1, 'RV', 'timestamp', 8, 0, 0, 0, null],
  [1, 'GEO', 'geography', -1, 0, 0, 1, null],
  [3, 'OTHER', 'int', 4, 10, 0, 0, null],
];
const INDEXES: readonly Row[] = [
  [1, 'PK_PT', 1, 1, 'PT_NO'],
  [1, 'IX_MRN', 0, 0, 'MRN'],
  [1, 'IX_MRN', 0, 0, 'PT_NO'],
];

const NAME = { kind: 'text', unicode: true, fixed: false, length: 128 };

const lower = (name: unknown): string => String(name).toLowerCase();

function script(texts: string[] = []) {
  return ({ text }: { readonly text: string }) => {
    texts.push(text);
    if (/sys\.(?:synonyms|security_predicates)/.test(text)) return Promise.resolve([]);
    if (text.includes('sys.all_views')) return Promise.resolve([[1, 0, 1]]);
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
    'SEEN DATETIMEOFFSET(3)',
    'SYS_FROM DATETIME2(7) UTC NOT NULL',
    'SYS_TO DATETIME2(0) UTC NOT NULL',
    'RV ROWVERSION NOT NULL',
    'GEO GEOGRAPHY',
  ]);
  expect(table?.columns.get('geo')?.type).toBeUndefined();
  expect(table?.columns.get('sys_from')?.type).toMatchObject({ kind: 'instant', fraction: 7, utc: true });
  // Collations of two columns that are compared.
  expect(table?.columns.get('nam')?.type).toMatchObject({ collation: 'Latin1_General_100_CI_AS' });
  expect(table?.columns.get('pt_no')?.type).not.toHaveProperty('collation');
  expect(table?.primaryKey).toEqual(['PT_NO']);
  expect(table?.indexes).toEqual([
    { name: 'PK_PT', columns: ['PT_NO'], unique: true },
    { name: 'IX_MRN', columns: ['MRN', 'PT_NO'], unique: false },
  ]);
});

it('has the code page of texts that the comparison collations cannot represent', async () => {
  const collations = [
    ['char', 'Polish_CI_AS', 1250],
    ['varchar', 'Latin1_General_100_CI_AS_SC_UTF8', 65001],
    ['varchar', 'SQL_Latin1_General_CP1_CI_AS', 1252],
    ['nvarchar', 'Polish_CI_AS', 1250],
    ['int', null, null],
  ] as const;
  const columns = collations.map(([type, ...of], i) => [2, `C${i}`, type, 4, 0, 0, 1, ...of]);
  const run = ({ text }: Statement): Promise<readonly Row[]> =>
    Promise.resolve(text.includes('FROM sys.columns') ? columns : /sys\.(?:index|synonyms)/.test(text) ? [] : OBJECTS);
  const table = (await readCatalog(run)).tables.get('vit_sgn');
  expect([...(table?.columns.values() ?? [])].map(({ declared }) => declared)).toEqual([
    'CHAR(4) CP1250',
    'NVARCHAR(4) CP65001',
    'VARCHAR(4)',
    'NVARCHAR(2)',
    'INT',
  ]);
  expect(table?.columns.get('c0')?.type).toMatchObject({ kind: 'text', unicode: false, codePage: 1250 });
  expect(table?.columns.get('c2')?.type).not.toHaveProperty('codePage');
});

it('an unqualified name is the table of the default schema; others keep their schema', async () => {
  const catalog = await readCatalog(script());
  expect([...catalog.tables].map(([key, { schema }]) => [key, schema])).toEqual([
    ['pt_mst', { name: 'ehr', needed: false }],
    ['vit_sgn', { name: 'dbo', needed: false }],
    ['other.pt_mst', { name: 'Other', needed: true }],
  ]);
  expect(findTable(catalog, 'PT_MST')?.columns.has('other')).toBe(false);
  expect(findTable(catalog, 'EHR.PT_MST')?.columns.has('other')).toBe(false);
  expect(findTable(catalog, 'OTHER.PT_MST')?.columns.has('other')).toBe(true);
  expect(findTable(catalog, 'dbo.PT_MST')).toBeUndefined();
});

it('omits unrequested and missing tables', async () => {
  const asked: Statement[] = [];
  const run = (statement: Statement): Promise<readonly Row[]> => {
    asked.push(statement);
    const object = OBJECTS.filter(([, name]) => statement.parameters.some(({ value }) => value === lower(name)));
    return statement.text.includes('FROM sys.objects') ? Promise.resolve(object) : script()(statement);
  };
  const { tables } = await readCatalog(run, { tables: ['VIT_sgn', 'NOWHERE'] });
  expect([...tables.keys()]).toEqual(['vit_sgn']);
  // Names ignore case in any collation; then only the columns and indexes of the tables found are read.
  expect(asked.map(({ parameters }) => parameters.map(({ value }) => value))).toEqual([
    ['vit_sgn', 'nowhere'],
    [2],
    [2],
    // Security policies, and the part of them that the login can see.
    [],
    [],
    ['vit_sgn', 'nowhere'],
  ]);
  const types = asked.flatMap(({ parameters }) => parameters.map(({ type }) => type));
  expect(types).toEqual([NAME, NAME, INTEGER, INTEGER, NAME, NAME]);
});

it('queries tables by columns, too, and many names in lists of few lengths', async () => {
  const asked: Statement[] = [];
  const run = (statement: Statement): Promise<readonly Row[]> => {
    asked.push(statement);
    return Promise.resolve([]);
  };
  const tables = Array.from({ length: 507 }, (_, i) => `T${i}`);
  await readCatalog(run, { tables, columns: ['SSN', 'ssn'] });
  expect(asked.map(({ parameters }) => parameters.length)).toEqual([512, 8, 1, 512, 8]);
  expect(asked[2]?.text).toContain('LOWER(c.name) IN (@p0)');
  for (const { text } of asked) expect(tsqlProblems(text)).toEqual([]);
});

it.each([undefined, { tables: ['PT_MST'] }])('queries by single SELECTs', async part => {
  const texts: string[] = [];
  await readCatalog(script(texts), part);
  expect(texts).toHaveLength(6);
  for (const text of texts) expect(tsqlProblems(text)).toEqual([]);
});

it('has the columns and indexes of what a synonym stands for, in this database and in another', async () => {
  const synonyms: readonly Row[] = [
    ['HERE', 1, 'dbo', null, null, 'ehr', 'PT_MST', 1],
    ['THERE', 1, 'dbo', null, "Lab]'s", 'dbo', 'RSLT', 1],
    ['AWAY', 1, 'dbo', 'LINKED', 'Lab', 'dbo', 'RSLT', 0],
    ['SHUT', 1, 'dbo', null, 'Hr', 'dbo', 'STAFF', 0],
    ['GONE', 1, 'dbo', null, null, 'dbo', 'NOTHING', 1],
    // A table of this name is in a schema that statements must name.
    ['PERSON', 1, 'dbo', null, null, 'ehr', 'PT_MST', 1],
  ];
  const texts: string[] = [];
  const run = ({ text }: Statement): Promise<readonly Row[]> => {
    texts.push(text);
    if (text.includes('FROM sys.synonyms')) return Promise.resolve(synonyms);
    if (text.includes("FROM [Lab]]'s].sys.objects")) return Promise.resolve([[9, 'dbo', 'RSLT', 1]]);
    if (text.includes("FROM [Lab]]'s].sys.columns"))
      return Promise.resolve([
        [9, 'NO', 'int', 4, 10, 0, 0, null],
        [9, 'AT', 'datetimeoffset', 10, 34, 7, 1, null],
      ]);
    if (text.includes("FROM [Lab]]'s].sys.indexes")) return Promise.resolve([[9, 'PK', 1, 1, 'NO']]);
    if (text.includes('AS is_view') && text.includes('SCHEMA_NAME()'))
      return Promise.resolve([[4, 'PERSON', 2, 'cdm', 0]]);
    return Promise.resolve(
      text.includes('AS is_view')
        ? [[1, 'ehr', 'PT_MST', 0]]
        : text.includes('FROM sys.columns')
          ? COLUMNS
          : text.includes('FROM sys.indexes')
            ? INDEXES
            : [],
    );
  };
  const catalog = await readCatalog(run, { tables: ['HERE', 'dbo.THERE', 'AWAY', 'SHUT', 'GONE', 'PERSON'] });
  const here = findTable(catalog, 'dbo.HERE');
  expect(here).toMatchObject({ name: 'HERE', primaryKey: ['PT_NO'], schema: { name: 'dbo', needed: false } });
  expect(here?.columns.get('upd')?.declared).toBe('DATETIME2(7)');
  const there = findTable(catalog, 'there');
  expect(there).toMatchObject({ name: 'THERE', isView: true, primaryKey: ['NO'] });
  expect([...(there?.columns.values() ?? [])].map(({ declared }) => declared)).toEqual(['INT', 'DATETIMEOFFSET(7)']);
  expect(findTable(catalog, 'PERSON')?.schema).toEqual({ name: 'dbo', needed: false });
  expect(findTable(catalog, 'cdm.PERSON')?.schema).toEqual({ name: 'cdm', needed: true });
  expect([...(catalog.unreachable ?? [])].toSorted()).toEqual([
    ['away', 'dbo.AWAY is a synonym of LINKED.Lab.dbo.RSLT: tables of a linked server are not supported'],
    ['gone', 'dbo.GONE is a synonym of dbo.NOTHING, which is no table or view that the login can see'],
    ['shut', 'dbo.SHUT is a synonym of Hr.dbo.STAFF: the login may not use that database'],
  ]);
  for (const text of texts) expect(tsqlProblems(text)).toEqual([]);
});
