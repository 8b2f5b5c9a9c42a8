/**
 * Lists the tables that a statement reads. In: a plan. Out: their names in lower case, each once, in order. Tables
 * inside a mapping's SQL text are not known.
 */
import { memoized } from '../common/caches.ts';
import { printTable } from './identifier.ts';
import type { SqlPlan } from './plan.ts';
import { walk } from './walk.ts';

/** Computes the tables once per plan. */
export const tablesOf = memoized(({ from, columns, orderBy }: SqlPlan): readonly string[] => {
  const names = new Set<string>();
  walk(
    { relations: [from], expressions: [...columns, ...orderBy.map(({ by }) => by)] },
    {
      enter({ table, joins }) {
        names.add(printTable(table).toLowerCase());
        for (const join of joins) names.add(printTable(join.table).toLowerCase());
        return true;
      },
    },
  );
  return [...names].toSorted();
});
