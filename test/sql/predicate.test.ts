import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { not } from '../../src/sql/construct.ts';
import { runsOf } from '../share.ts';
import { predicate, tables } from './arbitrary.ts';
import { checkPredicates, expectedIds, idsOf } from './predicate-law.ts';
import { openSample } from './sample.ts';

describe('predicates on SQLite', () => {
  let sample: ReturnType<typeof openSample>;
  beforeAll(() => {
    sample = openSample();
  });
  afterAll(() => sample.remove());

  it('select the rows that satisfy the predicate, and their complement all others', () =>
    checkPredicates(sample.database, 3000));

  it('also on random rows', async () => {
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
      { numRuns: runsOf(60) },
    );
  });
});
