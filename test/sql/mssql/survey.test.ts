import { expect, it } from 'vitest';
import type { Catalog, TableInfo } from '../../../src/sql/catalog.ts';
import { surveyTables } from '../../../src/sql/mssql/survey.ts';
import type { Row } from '../../../src/sql/plan.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

const SIZES: readonly Row[] = [
  ['dbo', 'PT', '12000000000'],
  ['arch', 'PT', 7],
];
const FOREIGN_KEYS: readonly Row[] = [
  ['dbo', 'VISIT', 11, 'PT_NO', 'dbo', 'PT', 'NO'],
  ['dbo', 'VISIT', 12, 'SITE', 'dbo', 'BED', 'SITE'],
  ['dbo', 'VISIT', 12, 'BED', 'dbo', 'BED', 'NO'],
  ['dbo', 'VISIT', 13, 'HIDDEN', 'sec', 'HIDDEN', 'NO'],
];

it('has the row counts of the server, and foreign keys to visible tables', async () => {
  const table = (schema: string, name: string, needed = false): TableInfo => ({
    ...{ name, schema: { name: schema, needed }, columns: new Map(), primaryKey: [], indexes: [] },
  });
  const tables = new Map([
    ['pt', table('dbo', 'PT')],
    ['arch.pt', table('arch', 'PT', true)],
    ['visit', table('dbo', 'VISIT')],
    ['bed', table('dbo', 'BED')],
  ]);
  const catalog: Catalog = { engine: 'mssql', tables };
  const texts: string[] = [];
  const found = await surveyTables(async ({ text }) => {
    texts.push(text);
    return text.includes('sys.partitions') ? SIZES : FOREIGN_KEYS;
  }, catalog);
  expect(texts.flatMap(tsqlProblems)).toEqual([]);
  expect(found.get('pt')).toEqual({ rows: { count: 12_000_000_000, kind: 'about' }, foreignKeys: [] });
  expect(found.get('arch.pt')?.rows).toEqual({ count: 7, kind: 'about' });
  expect(found.get('visit')).toEqual({
    rows: undefined,
    foreignKeys: [
      { columns: ['PT_NO'], table: 'pt', theirs: ['NO'] },
      { columns: ['SITE', 'BED'], table: 'bed', theirs: ['SITE', 'NO'] },
    ],
  });
});
