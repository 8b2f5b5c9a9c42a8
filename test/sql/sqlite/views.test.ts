/** Indexes that serve views: those of the one table whose rows a view shows. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { readCatalog } from '../../../src/sql/sqlite/catalog.ts';

const SCHEMA = `
CREATE TABLE READING (VISIT TEXT COLLATE RTRIM, TEST TEXT, "ROW NO" INTEGER);
CREATE TABLE KEYED (ID INTEGER PRIMARY KEY, CODE TEXT COLLATE RTRIM, OLD TEXT COLLATE RTRIM, UNIQUE (CODE, OLD));
CREATE TABLE SHADOW (ROWID TEXT, X TEXT);
CREATE INDEX READING_VISIT ON READING (VISIT);
CREATE INDEX READING_TEST ON READING (TEST);
CREATE INDEX READING_BOTH ON READING (TEST COLLATE RTRIM, VISIT);
`;

function indexesOf(view: string, more = ''): readonly string[] {
  const database = new DatabaseSync(':memory:');
  database.exec(`${SCHEMA}${more}; CREATE VIEW "the view" AS ${view}`);
  const indexes = readCatalog(database).tables.get('the view')?.indexes ?? [];
  database.close();
  return indexes.map(({ columns, unique, unfit }) => {
    const otherwise = unfit ? ` not ${unfit.map(({ column }) => column).join()}` : '';
    return `${columns.join()}${unique ? ' unique' : ''}${otherwise}`;
  });
}

test('a view that numbers the rows of a table has the indexes of that table, and its numbers are unique', () => {
  expect(indexesOf('SELECT rowid AS N, VISIT AS CALL, TEST FROM READING').toSorted()).toEqual([
    'CALL',
    'N unique',
    'TEST not TEST',
    'TEST,CALL',
  ]);
});

test('a view of some rows, and a view upon it, have them by their own names', () => {
  const some = `CREATE VIEW SOME AS SELECT ID AS K, CODE AS C, OLD FROM KEYED WHERE OLD IS NOT NULL`;
  expect(indexesOf('SELECT * FROM SOME', some).toSorted()).toEqual(['C,OLD unique', 'K unique']);
  expect(indexesOf('SELECT K AS KEY, C FROM SOME', some)).toEqual(['KEY unique']);
});

test.each([
  'SELECT rowid AS N, upper(VISIT) AS VISIT, TEST || 1 AS TEST FROM READING WHERE 0',
  'SELECT VISIT FROM READING UNION ALL SELECT CODE FROM KEYED',
  'SELECT CODE, VISIT, ID FROM KEYED JOIN READING ON VISIT = CODE',
  'SELECT a.ID FROM KEYED a, KEYED b',
  'SELECT CODE, count(*) AS ROWS FROM KEYED GROUP BY CODE',
  'SELECT DISTINCT VISIT FROM READING',
  'SELECT ROWID AS N FROM SHADOW',
  'SELECT 1 AS ONE',
])('a view that computes, joins or groups has no index but of a column as it is stored: %s', view => {
  expect(indexesOf(view).filter(one => one !== 'N unique' || view.includes('SHADOW'))).toEqual([]);
});
