import { describe, expect, it } from 'vitest';
import { BAD, GOOD, NOT_ONE_SELECT } from './statements.ts';
import { isSingleSelect, tsqlProblems } from './tsql-grammar.ts';

describe('The T-SQL grammar of the tests', () => {
  it.each(GOOD)('accepts a SELECT with %s', (_shows, sql) => {
    expect(tsqlProblems(sql)).toEqual([]);
    expect(isSingleSelect(sql)).toBe(true);
  });

  it.each(BAD)('finds a syntax error in %s', (_shows, sql) => {
    expect(tsqlProblems(sql)).not.toEqual([]);
    expect(isSingleSelect(sql)).toBe(false);
  });

  it.each(NOT_ONE_SELECT)('rejects %s as not exactly one SELECT', (_shows, sql) => {
    expect(tsqlProblems(sql)).not.toEqual([]);
    expect(isSingleSelect(sql)).toBe(false);
  });

  it('reports the position of an error', () => {
    expect(tsqlProblems('SELECT p.[A]\nFROM [P] AS p LIMIT 10')).toEqual(['2:15 the SELECT ends before LIMIT']);
  });

  it('gives the same result before and after a failed statement', () => {
    const sql = 'SELECT p.[A] FROM [P] AS p WHERE p.[A] = @a';
    expect(tsqlProblems(`${sql} AND`)).not.toEqual([]);
    expect(tsqlProblems(sql)).toEqual([]);
    expect(tsqlProblems(`${sql})`)).not.toEqual([]);
    expect(tsqlProblems(sql)).toEqual([]);
  });
});
