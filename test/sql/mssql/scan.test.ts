/** Finds the lines of a SQL Server plan that scan all rows, as SHOWPLAN_TEXT writes them. */
import { expect, test } from 'vitest';
import { engineNamed } from '../../../src/sql/engines.ts';

test.each([
  ['  |--Clustered Index Scan(OBJECT:([ehr].[dbo].[PT].[PK_PT]), WHERE:([ehr].[dbo].[PT].[SEX]=[@p1]))', true],
  ['       |--Table Scan(OBJECT:([ehr].[dbo].[PT] AS [p]))', true],
  ['  |--Index Scan(OBJECT:([ehr].[dbo].[PT].[IX]))', true],
  ['  |--Index Seek(OBJECT:([ehr].[dbo].[PT].[IX]), SEEK:([p].[SEX]=[@p1]) ORDERED FORWARD)', false],
  ['  |--Constant Scan', false],
  ['estimated cost 3.2', false],
])('%s', (line, isScan) => {
  expect(engineNamed('mssql').isScan(line)).toBe(isScan);
});
