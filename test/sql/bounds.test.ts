/** Long statements: chains of comparisons, which engines nest, and more parameters than engines accept. */
import { expect, onTestFinished, test } from 'vitest';
import { INTEGER } from '../../src/sql/column-type.ts';
import { among, and, compare, equals, or, value } from '../../src/sql/construct.ts';
import { StatementTooLarge } from '../../src/sql/database.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { tsqlProblems } from './grammar/tsql-grammar.ts';
import { column, openSample } from './sample.ts';

const ID = column('a', 'ID');
const BETWEEN = (id: number): Predicate =>
  and(compare(ID, '>=', value(id, INTEGER)), compare(ID, '<=', value(id, INTEGER)));

function planOf(where: Predicate): SqlPlan {
  const from = { table: { name: identifier('A') }, alias: identifier('a'), joins: [], where };
  return { from, columns: [ID], orderBy: [{ by: ID, descending: false }], limit: 1000, shape: 'rows' };
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

test('a disjunction of a thousand comparisons finds the union', async () => {
  const sample = openSample();
  onTestFinished(() => sample.remove());
  const all = await sample.database.query(planOf(compare(ID, '>=', value(0, INTEGER))));
  const some = planOf(or(...numbers(1000).map(BETWEEN)));
  expect(await sample.database.query(some)).toEqual(all);
  const none = and(...numbers(1000).map(id => compare(ID, '<>', value(id, INTEGER))));
  expect(await sample.database.query(planOf(none))).toEqual([]);
  expect(tsqlProblems(render(planOf(or(...numbers(200).map(BETWEEN))), MSSQL).text)).toEqual([]);
});

test('a statement with more parameters than its engine takes is refused before it is sent', () => {
  const asking = (count: number): SqlPlan => planOf(or(...numbers(count).map(id => equals(ID, value(id, INTEGER)))));
  expect(render(asking(2097), MSSQL).parameters).toHaveLength(2098);
  expect(() => render(asking(2098), MSSQL)).toThrow(StatementTooLarge);
  expect(render(asking(2098), SQLITE).parameters).toHaveLength(2099);
  expect(() => render(asking(32_766), SQLITE)).toThrow(StatementTooLarge);
});

test('list lengths are rounded up only within the parameter limit of the engine', () => {
  const asking = (count: number): SqlPlan =>
    planOf(
      or(
        ...['ID', 'QTY', 'BIG'].map(name =>
          among(
            column('a', name),
            numbers(count).map(id => value(id, INTEGER)),
          ),
        ),
      ),
    );
  expect(render(asking(500), MSSQL).parameters).toHaveLength(3 * 512 + 1);
  expect(render(asking(600), MSSQL).parameters).toHaveLength(3 * 600 + 1);
  expect(render(asking(600), SQLITE).parameters).toHaveLength(3 * 1024 + 1);
  expect(() => render(asking(700), MSSQL)).toThrow(StatementTooLarge);
});
