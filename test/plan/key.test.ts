import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { JoinColumn } from '../../src/mapping/model.ts';
import { inStatements, oursAmong, theirsAmong } from '../../src/plan/key.ts';
import { INTEGER } from '../../src/sql/column-type.ts';
import type { ColumnExpression, Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';

const column = (alias: string, name: string): ColumnExpression => ({
  kind: 'column',
  alias: identifier(alias),
  column: identifier(name),
  type: INTEGER,
});
const on: readonly JoinColumn[] = ['A', 'B'].map(name => ({ theirs: column('t', name), ours: column('t', name) }));

/** 200 rows, and as many keys as a page. */
function planOf(where: Predicate): { readonly found: number; readonly plan: readonly string[] } {
  const table = { name: identifier('T') };
  const { text, parameters } = render(
    {
      from: { table, alias: identifier('t'), joins: [], where },
      columns: [column('t', 'B')],
      orderBy: on.map(({ theirs }) => ({ by: theirs, descending: false })),
      limit: 1000,
      shape: 'rows',
    },
    SQLITE,
  );
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE T (A INTEGER, B INTEGER, PRIMARY KEY (A, B))');
  for (let i = 0; i < 200; i++) database.exec(`INSERT INTO T VALUES (${i % 20}, ${i})`);
  const values = parameters.map(({ value }) => value);
  const found = database.prepare(text).all(...values).length;
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
  database.close();
  return { found, plan: plan.map(({ detail }) => String(detail)) };
}

const keys = Array.from({ length: 50 }, (_, i) => [i % 20, i + 20 * (i % 2)]);

test.each([
  ['their', theirsAmong],
  ['our', oursAmong],
])('keys of two columns: the search uses an index of %s columns', (_, among) => {
  const { found, plan } = planOf(among(on, keys));
  expect(plan.filter(line => line.startsWith('SCAN'))).toEqual([]);
  expect(found).toBe(keys.filter(([a = 0, b = 0]) => b % 20 === a).length);
});

test('a statement has no more keys than SQL Server has parameters for', () => {
  const keys = (count: number, parts: number) => Array.from({ length: count }, (_, i) => new Array(parts).fill(i));
  for (const parts of [1, 2, 3, 4, 7]) {
    const statements = inStatements(keys(1201, parts));
    expect(statements.flat()).toEqual(keys(1201, parts));
    for (const some of statements) expect(some.length * parts).toBeLessThanOrEqual(1500);
  }
  expect(inStatements(keys(1000, 1)).map(some => some.length)).toEqual([500, 500]);
  expect(inStatements([])).toEqual([]);
});
