import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareOf } from '../share.ts';
import { tsqlProblems } from '../sql/grammar/tsql-grammar.ts';
import { type Case, openPlannedDemo, type PlannedDemo, planOf } from './plans.ts';
import { REQUESTS } from './requests.ts';

const cases: readonly Case[] = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8'));

/** The requests whose T-SQL is parsed by the grammar, which takes ten times as long as planning and rendering. */
const PARSED = new Set(shareOf(REQUESTS, 4));

let demo: PlannedDemo;
beforeAll(async () => {
  demo = await openPlannedDemo();
});
afterAll(() => demo.close());

test.each(REQUESTS.map((asked, i) => [asked.title, asked, cases[i]] as const))('%s', async (_, asked, expected) => {
  const { mssqlTexts, ...readable } = await planOf(asked, demo);
  expect(readable, 'see test/plan/update-cases.ts').toEqual(expected);
  if (PARSED.has(asked)) expect(mssqlTexts.flatMap(tsqlProblems)).toEqual([]);
});

test('each case of cases.json has a request in this test', () => {
  expect(cases.map(({ title }) => title)).toEqual(REQUESTS.map(({ title }) => title));
});
