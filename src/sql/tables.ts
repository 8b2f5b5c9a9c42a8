/**
 * Lists the tables that a statement reads. In: a plan. Out: their names in lower case, each once, in order. Tables
 * inside a mapping's SQL text are not known.
 */
import { printTable } from './identifier.ts';
import type { SqlPlan } from './plan.ts';
import { walk } from './walk.ts';

const known = new WeakMap<SqlPlan, readonly string[]>();

/** Computes the tables once per plan. */
export function tablesOf(plan: SqlPlan): readonly string[] {
  const before = known.get(plan);
  if (before) return before;
  const { from, columns, orderBy } = plan;
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
  const tables = [...names].toSorted();
  known.set(plan, tables);
  return tables;
}
