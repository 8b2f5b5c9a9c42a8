import { expect, test } from 'vitest';
import { alikeOnce } from '../../src/cli/parameters-text.ts';

test('a column of many tables is listed once', () => {
  const years = [2005, 2006, 2007, 2008, 2009];
  const columns = [
    'CODESET.STDCD',
    ...years.map(year => `RESULTS_${year}.PATNO (index RES${year}_PAT is BINARY, comparisons are RTRIM)`),
    ...years.map(year => `RESULTS_${year}.VALTX computed`),
    'A.NO',
    'B.NO',
  ];
  expect(alikeOnce(columns)).toEqual([
    'CODESET.STDCD',
    'RESULTS_2005.PATNO (index RES2005_PAT is BINARY, comparisons are RTRIM) and the same of 4 more tables',
    'RESULTS_2005.VALTX computed and the same of 4 more tables',
    'A.NO',
    'B.NO',
  ]);
});
