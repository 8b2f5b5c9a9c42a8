/** Permissions of a login on tables and on the targets of synonyms, from a scripted catalog. */
import { expect, it } from 'vitest';
import { readPermissions } from '../../../src/sql/mssql/permissions.ts';
import type { Row, Statement } from '../../../src/sql/plan.ts';
import { tsqlProblems } from '../grammar/tsql-grammar.ts';

const TABLES: readonly Row[] = [
  [1, 'dbo', 'OPEN', 1, 0, 0, 0],
  [2, 'dbo', 'PART', 1, 0, 1, 0],
  [3, 'dbo', 'SHUT', 0, 0, 0, 0],
];
const SYNONYMS: readonly Row[] = [[1, 'dbo', 'SYN', 1, 1, 0, 0, "Lab]'s"]];
const COLUMNS: readonly Row[] = [
  [1, 'NO', 1],
  [1, 'E-Mail', null],
  [2, 'NO', 1],
  [2, 'SSN', 0],
  [3, 'NO', 0],
];
const THEIRS: readonly Row[] = [
  [1, 'NO', 1],
  [1, 'PIN', 0],
];

const texts: string[] = [];

async function run({ text, parameters }: Statement): Promise<readonly Row[]> {
  texts.push(text);
  expect(tsqlProblems(text)).toEqual([]);
  const asked = new Set(parameters.map(({ value }) => value));
  if (text.includes("'COLUMN'"))
    return (text.includes("FROM [Lab]]'s].sys.objects") ? THEIRS : COLUMNS).filter(([id]) => asked.has(Number(id)));
  if (text.includes('FROM sys.objects')) return TABLES.filter(([, , name]) => asked.has(String(name)));
  return text.includes('FROM sys.synonyms') ? SYNONYMS : [];
}

it('names columns that are denied on a table which may be read, and those behind a synonym', async () => {
  expect(await readPermissions(run, ['OPEN', 'dbo.PART', 'SHUT', 'SYN', 'NOWHERE'])).toEqual({
    unreadable: [{ table: 'dbo.PART', column: 'SSN' }, { table: 'SHUT' }, { table: 'SYN', column: 'PIN' }],
    writes: ['UPDATE on dbo.PART', 'INSERT on SYN'],
  });
  expect(texts.some(text => text.includes("HAS_PERMS_BY_NAME(N'[Lab]]''s].' + QUOTENAME(s.name)"))).toBe(true);
});

it('sends no query if there are no tables', async () => {
  texts.length = 0;
  expect(await readPermissions(run, [])).toEqual({ unreadable: [], writes: [] });
  expect(texts).toHaveLength(1);
});
