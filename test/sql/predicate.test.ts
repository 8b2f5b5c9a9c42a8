import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Predicate } from '../../src/sql/expression.ts';
import { not } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { predicate, tables } from './arbitrary.ts';
import { holds } from './evaluate.ts';
import { column, openSample, ROWS, type Tables } from './sample.ts';

const A = identifier('A');
const a = identifier('a');

function idsOf(where: Predicate): SqlPlan {
  return {
    from: { table: { schema: identifier('dbo'), name: A }, alias: a, joins: [], where },
    columns: [column('a', 'ID')],
    orderBy: [{ by: column('a', 'ID'), descending: false }],
    limit: 1000,
    shape: 'rows',
  };
}

function expectedIds(where: Predicate, content: Tables): unknown[] {
  return (content['A'] ?? []).filter(cells => holds(where, { tables: content, rows: { a: cells } })).map(c => c['ID']);
}

describe('predicates on SQLite', () => {
  let sample: ReturnType<typeof openSample>;
  beforeAll(() => {
    sample = openSample();
  });
  afterAll(() => sample.remove());

  const selected = async (where: Predicate): Promise<unknown[]> =>
    (await sample.database.query(idsOf(where))).map(row => row[0]);

  it('select what the predicate means, and their complement selects all the other rows', async () => {
    await fc.assert(
      fc.asyncProperty(predicate, async where => {
        const chosen = await selected(where);
        expect(chosen).toEqual(expectedIds(where, ROWS));
        const rest = await selected(not(where));
        expect(new Set([...chosen, ...rest]).size).toBe(chosen.length + rest.length);
        expect(chosen.length + rest.length).toBe(ROWS['A']?.length);
      }),
      { numRuns: 3000 },
    );
  });

  it('do so on random rows', async () => {
    await fc.assert(
      fc.asyncProperty(tables, fc.array(predicate, { minLength: 20, maxLength: 20 }), async (content, wheres) => {
        const other = openSample(content);
        try {
          for (const where of wheres) {
            for (const p of [where, not(where)]) {
              const rows = await other.database.query(idsOf(p));
              expect(rows.map(row => row[0])).toEqual(expectedIds(p, content));
            }
          }
        } finally {
          await other.remove();
        }
      }),
      { numRuns: 60 },
    );
  });
});
