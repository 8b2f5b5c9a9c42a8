import { expect, test } from 'vitest';
import { WorkedOut } from '../../src/law/worked-out.ts';
import { OPAQUE, UNICODE } from '../../src/sql/column-type.ts';
import type { Database } from '../../src/sql/database.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';

test('a row without a key is distinguished from others by columns that compare', async () => {
  const alias = identifier('t');
  const column = (name: string, type: typeof UNICODE) =>
    ({ kind: 'column', alias, column: identifier(name), type }) as const;
  const [at, name] = [column('AT', OPAQUE), column('NAME', UNICODE)];
  const worked = new WorkedOut();
  const expression = { kind: 'raw', parts: ['CAST(', at, ' AS date)'], type: { kind: 'date' } } as const;
  const key = [
    [at, '2024-03-10 08:30:00 +01:00'],
    [name, 'A'],
  ] as const;
  expect(worked.of(expression, [{ alias, table: { name: identifier('V') }, key }], new Set())).toBeUndefined();
  const asked: SqlPlan[] = [];
  const database: Pick<Database, 'query'> = {
    query: async plan => {
      asked.push(plan);
      return [];
    },
  };
  await worked.fetch(database as Database, AbortSignal.timeout(60_000));
  const [plan] = asked;
  const [, where] = (plan ? render(plan, MSSQL).text : '').split('WHERE');
  expect(where).toContain('t.NAME');
  expect(where).not.toContain('t.AT');
});
