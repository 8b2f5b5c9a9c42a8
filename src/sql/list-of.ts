/**
 * Shortens a plan to one list of rows, for engines where an open statement holds locks. In: a plan, the size of the
 * list, and the values of its placeholders. Out: the plan itself, or one with a smaller limit; always the same object
 * for one plan and size, so that its prepared statement is reused.
 */
import type { PlaceholderValues, SqlPlan } from './plan.ts';

const shortened = new WeakMap<SqlPlan, SqlPlan>();

export function listOf(plan: SqlPlan, size: number, placeholders: PlaceholderValues | undefined): SqlPlan {
  const limit = plan.limitPlaceholder === undefined ? plan.limit : Number(placeholders?.[plan.limitPlaceholder]);
  if (limit <= size) return plan;
  const known = shortened.get(plan);
  if (known?.limit === size) return known;
  const list = { ...plan, limit: size, limitPlaceholder: undefined };
  shortened.set(plan, list);
  return list;
}
