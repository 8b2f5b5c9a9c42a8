/** Statements of searches check the clock, so that they can be interrupted; statements by key do not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { TRUE } from '../../src/sql/construct.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { createClockChecks } from '../../src/sql/sqlite/time-limits.ts';
import { renderedBy } from '../../src/sql/statement.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
const looked: number[] = [];
beforeAll(async () => {
  const looking = createClockChecks(() => true);
  const render = renderedBy(SQLITE);
  demo = await openDemo({
    patients: 24,
    onQuery: (plan, placeholders, now) =>
      looked.push(render(looking(plan), placeholders, now).text.split('lintel_look()').length - 1),
  });
});
afterAll(() => demo.close());

test('counts of a view check for cancellation per row, those of a table do not', () => {
  const from = { table: { name: identifier('SLOW') }, alias: identifier('t'), joins: [], where: TRUE };
  const plan: SqlPlan = { from, columns: [], orderBy: [], limit: 1, shape: 'count', searches: true };
  const looksOf = (hasRowids: boolean): boolean =>
    renderedBy(SQLITE)(createClockChecks(() => hasRowids)(plan)).text.includes('lintel_look()');
  expect([looksOf(false), looksOf(true)]).toEqual([true, false]);
});

/** Number of clock checks in each statement of a search. */
test.each<[string, readonly (readonly [string, string])[], readonly number[]]>([
  ['a page and its child rows', [['birthdate', 'gt1900']], [1, 0, 0]],
  [
    'a count',
    [
      ['birthdate', 'gt1900'],
      ['_summary', 'count'],
    ],
    [1],
  ],
  [
    'a chain',
    [
      ['general-practitioner.name', 'a'],
      ['_summary', 'count'],
    ],
    [1, 1],
  ],
  [
    '_has',
    [
      ['_has:Encounter:patient:date', 'gt1900'],
      ['_summary', 'count'],
    ],
    [2],
  ],
])('%s', async (_, parameters, expected) => {
  looked.length = 0;
  await demo.facade.search(
    { type: 'Patient', parameters },
    { access: OPEN_ACCESS, base: 'http://x', handling: 'strict' },
  );
  expect(looked).toEqual(expected);
});
