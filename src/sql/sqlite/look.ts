/**
 * Adds a look at the clock to statements that search: a condition that is always true and calls our function, before
 * the other conditions. Without it SQLite may read any number of rows and call none of our functions. In: a plan. Out:
 * the same with this condition.
 */
import { INTEGER } from '../column-type.ts';
import { and } from '../construct.ts';
import type { Predicate, Relation } from '../expression.ts';
import { identifier } from '../identifier.ts';
import type { SqlPlan } from '../plan.ts';

/**
 * Of so many rows one is looked at: a call takes longer than many a comparison. A prime, for numbers may come in steps.
 */
const ROWS = 17;

/** `hasRowids`: whether the rows of a table are numbered; those of views are not. */
export function createLooks(hasRowids: (table: string) => boolean): (plan: SqlPlan) => SqlPlan {
  const made = new WeakMap<SqlPlan, SqlPlan>();

  const inRows = (of: Relation): Relation => ({
    ...of,
    where: and(lookAt(of, hasRowids(of.table.name)), inside(of.where)),
  });

  /** The same object where nothing changes: its SQL is kept by it. */
  const inside = (of: Predicate): Predicate => {
    if (of.kind === 'exists') return of.searches ? { ...of, from: inRows(of.from) } : of;
    if (of.kind === 'taken') return { ...of, of: of.of.map(one => ({ ...one, from: inRows(one.from) })) };
    if (of.kind !== 'and' && of.kind !== 'or') return of;
    const parts = of.of.map(inside);
    return parts.every((part, i) => part === of.of[i]) ? of : { ...of, of: parts };
  };

  return plan => {
    // All rows are counted without being read.
    if (!plan.searches || plan.from.where.kind === 'true') return plan;
    const known = made.get(plan);
    if (known) return known;
    const looking = { ...plan, from: inRows(plan.from) };
    made.set(plan, looking);
    return looking;
  };
}

function lookAt({ alias }: Relation, rowids: boolean): Predicate {
  const rowid = { kind: 'column', alias, column: identifier('rowid'), type: INTEGER } as const;
  // Else the query planner would take it for a condition that few rows satisfy.
  const parts = rowids
    ? ['likelihood(', rowid, ` % ${ROWS} OR lintel_look(), 1.0)`]
    : ['likelihood(lintel_look(), 1.0)'];
  return { kind: 'raw', parts, not: false };
}
