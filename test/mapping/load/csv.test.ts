import { expect, test } from 'vitest';
import { readCsv } from '../../../src/mapping/load/read/csv.ts';

test('CSV fields may be quoted, with commas, quotes and line ends; records have line numbers', () => {
  expect(readCsv('\uFEFFraw,code\r\n"a,b","say ""hi"""\r\n\r\n"two\nlines",x\nlast,')).toEqual([
    { line: 1, fields: ['raw', 'code'] },
    { line: 2, fields: ['a,b', 'say "hi"'] },
    { line: 4, fields: ['two\nlines', 'x'] },
    { line: 6, fields: ['last', ''] },
  ]);
});

test('an empty CSV text has no records', () => {
  expect(readCsv('')).toEqual([]);
  expect(readCsv('\n\n')).toEqual([]);
});
