/**
 * A required element from a NOT NULL column counts as present unless rows show otherwise, so that a large database can
 * start.
 */
import { expect, test } from 'vitest';
import { findTable } from '../../../src/sql/catalog.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { catalog } from './catalog.ts';
import { load } from './problems-of.ts';

test.each([
  [{ form: 'any' }, 1],
  [{ form: 'any', unseen: true }, 0],
  [{ form: 'declared' }, 0],
] as const)('a required element of a NOT NULL number column with the form %j has %i problems', (seen, problems) => {
  const table = findTable(catalog, { name: identifier('PT') });
  const column = table?.columns.get('pt_no');
  if (!table || !column) throw new Error('no such column');
  const columns = new Map([...table.columns, ['pt_no', { ...column, nullable: false, ...seen }]]);
  const known = { ...catalog, tables: new Map([...catalog.tables, ['pt', { ...table, columns }]]) };
  const mapping = `mapping: people
resource: Observation
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
elements: { status: final, code: { text: { from: PT_NO } } }
`;
  const { problems: told } = load({ 'm.yaml': mapping }, known);
  expect(told.filter(({ message }) => message.includes('may be absent'))).toHaveLength(problems);
});
