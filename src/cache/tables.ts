/**
 * Lists the tables that a plan reads. In: a plan. Out: its table, those joined, and those that conditions and values
 * look into, each by one name however it is written.
 */
import type { TableName } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { walk } from '../sql/walk.ts';

/** Engines compare names without case. */
export function tableKey({ schema, name }: TableName): string {
  return `${schema ?? ''}.${name}`.toLowerCase();
}

/** Stands for whatever an expression in SQL's own words reads; no table has this name. */
export const HIDDEN_TABLE = '(sql)';

/** Calls `take` for each place where a table stands in the plan; it may be called for one table many times. */
export function eachTable({ from, columns, orderBy }: SqlPlan, take: (table: string) => void): void {
  walk(
    { relations: [from], expressions: [...columns, ...orderBy.map(({ by }) => by)] },
    {
      enter({ table, joins }) {
        take(tableKey(table));
        for (const join of joins) take(tableKey(join.table));
        return true;
      },
      raw(text) {
        if (/\bselect\b/i.test(text)) take(HIDDEN_TABLE);
      },
    },
  );
}
