/** Compares what an engine selects from the rows of the sample by a predicate with the evaluator's result. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { not } from '../../src/sql/construct.ts';
import type { Database } from '../../src/sql/database.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { predicate } from './arbitrary.ts';
import { holds } from './evaluate.ts';
import { column, ROWS, type Tables } from './sample.ts';

const A = identifier('A');
const a = identifier('a');

export function idsOf(where: Predicate): SqlPlan {
  return {
    from: { table: { schema: identifier('dbo'), name: A }, alias: a, joins: [], where },
    columns: [column('a', 'ID')],
    orderBy: [{ by: column('a', 'ID'), descending: false }],
    limit: 1000,
    shape: 'rows',
  };
}

export function expectedIds(where: Predicate, content: Tables): unknown[] {
  return (content['A'] ?? []).filter(cells => holds(where, { tables: content, rows: { a: cells } })).map(c => c['ID']);
}

/**
 * Checks that a predicate selects the rows for which it holds, and its complement all others. `asked`: the predicates.
 */
export async function checkPredicates(
  database: Database,
  numRuns: number,
  asked: (where: Predicate) => boolean = () => true,
): Promise<void> {
  const selected = async (where: Predicate): Promise<unknown[]> =>
    (await database.query(idsOf(where))).map(row => row[0]);
  await fc.assert(
    fc.asyncProperty(predicate.filter(asked), async where => {
      const chosen = await selected(where);
      expect(chosen).toEqual(expectedIds(where, ROWS));
      const rest = await selected(not(where));
      expect(new Set([...chosen, ...rest]).size).toBe(chosen.length + rest.length);
      expect(chosen.length + rest.length).toBe(ROWS['A']?.length);
    }),
    { numRuns },
  );
}
