/** Names of tables and columns in old databases, and columns of types that no codec reads. */
import { expect, test } from 'vitest';
import type { Catalog } from '../../../src/sql/catalog.ts';
import { searchSmall } from '../../plan/small-pack.ts';
import { catalog } from './catalog.ts';
import { load, problemsOf } from './problems-of.ts';

const SCHEMA = `
CREATE TABLE [Pat-Stamm 2] ([2nd Key] INT NOT NULL PRIMARY KEY, [E-Mail] VARCHAR(40), [Ja/Nein] CHAR(1),
  [% Ideal] INT, [Start-Day] DATE, [End Day] DATE);
INSERT INTO [Pat-Stamm 2] VALUES
  (1, 'a@example.org', 'J', 90, '2024-03-01', '2024-03-02'),
  (2, 'b@example.org', 'N', 110, '2024-03-02', '2024-03-01');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'm.yaml': `mapping: people
resource: Patient
source: { table: Pat-Stamm 2, key: [2nd Key], where: { "% Ideal": { gt: 0 } } }
id: "{2nd Key}"
elements:
  active: { from: Ja/Nein, via: { boolean: { true: J, false: N } } }
  telecom: [{ system: email, value: { from: E-Mail } }]
  gender: { first: [{ const: female, if: { Start-Day: { before: End Day } } }, male] }
  multipleBirthInteger: { sql: "{% Ideal} + 0", type: int }
`,
};

test.each([
  ['Patient?active=true', ['1']],
  ['Patient?email=b@example.org', ['2']],
  ['Patient?gender=female', ['1']],
])('names with a hyphen, a slash, a percent sign or a digit first: %s', async (query, ids) => {
  const found = await searchSmall(SCHEMA, PACK, query);
  expect(found.ids).toEqual(ids);
  expect(found.mssql.join()).toContain('FROM [Pat-Stamm 2] AS [pat-stamm 2]');
});

function withColumn(name: string): Catalog {
  const [table] = catalog.tables.values();
  if (!table) throw new Error('there is no table');
  const column = { name, type: table.columns.get('mrn')?.type, declared: 'VARCHAR(12)', nullable: true };
  const columns = new Map([...table.columns, [name.toLowerCase(), column]]);
  return { ...catalog, tables: new Map([...catalog.tables, ['pt', { ...table, columns }]]) };
}

test.each(['A]B', 'A"B', 'A;B'])('a column that no statement can name is reported at its place: %s', name => {
  const mapping = `mapping: people
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
elements:
  telecom: [{ system: email, value: { from: '${name}' } }]
`;
  const { problems } = load({ 'm.yaml': mapping }, withColumn(name));
  expect(problems).toMatchObject([{ position: { line: 6 }, kind: 'unknown-column', found: name }]);
});

test('`sql` reads a column of a type that no codec takes, which nothing else does', () => {
  const of = (node: string) => ({
    'm.yaml': `mapping: people
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
elements:
  telecom: [{ system: email, value: ${node} }]
`,
  });
  expect(problemsOf(of(`{ sql: "{NOTE}.value('(/a)[1]', 'nvarchar(20)')", type: nvarchar(20) }`))).toEqual([]);
  expect(problemsOf(of('{ from: NOTE }'))).toEqual([
    'm.yaml:6:45: no codec takes column PT.NOTE; expected an element with `sql` that makes a value of another type of it, or a view that does; found XML',
  ]);
});
