/**
 * Plans the statement of a branch. In: a branch, the elements wanted, the cursor. Out: a plan whose columns are those
 * of the row shape, then flags of the mappings, then sort expressions. It is kept as long as its branch, for requests
 * that differ only in ids and cursor values.
 */
import type { Mapping } from '../mapping/model.ts';
import type { Branch } from '../plan/branches.ts';
import { bareRelation } from '../plan/condition.ts';
import { ALL_RULES } from '../plan/environment.ts';
import { afterCursor, orderOf } from '../plan/keyset.ts';
import { type ForInstants, forInstants, servesInstant } from '../plan/moments.ts';
import { selectionKey } from '../resource/selection.ts';
import type { Cursor } from '../search/cursor.ts';
import type { Selection, SortKey } from '../search/query.ts';
import { and, flag, TRUE } from '../sql/construct.ts';
import type { Expression } from '../sql/expression.ts';
import type { PlaceholderValues, SqlPlan } from '../sql/plan.ts';
import { valueShape } from '../sql/statement.ts';
import type { Session } from './session.ts';
import type { Shaped, ShapeRequest } from './shapes.ts';

/** What is wanted of the rows of branches, and from where on. */
export interface BranchNeeds {
  readonly sort: readonly SortKey[];
  readonly selection: Selection;
  readonly cursor: Cursor | undefined;
  readonly also?: AlsoWanted | undefined;
  /** Values of the places of the branches; without them each plan is for one use. */
  readonly placeholders?: PlaceholderValues;
}

/** Columns, and nodes of references, that later stages want of each row. */
export interface AlsoWanted {
  /** Equal where the same is wanted. */
  readonly key: string;
  of(mapping: Mapping): Pick<ShapeRequest, 'columns' | 'nodes'>;
}

export interface BranchPlan {
  readonly plan: SqlPlan;
  /** The first of those that share the statement. */
  readonly mapping: string;
  readonly shaped: Shaped;
  /** Position of each mapping's flag; undefined where every row is its. */
  readonly flags: readonly (number | undefined)[];
  readonly sortAt: readonly number[];
}

export interface KeptPlan {
  /** Undefined: the branch has no rows that could match. */
  readonly planned: BranchPlan | undefined;
  readonly placeholders: PlaceholderValues | undefined;
}

/** Plans of one branch at most: with and without a cursor, of several selections. */
const PLANS = 20;

type Plans = Map<string, ForInstants<BranchPlan | undefined>>;

const kept = new WeakMap<Branch, Plans>();

/** The plan of a branch; one that was made for an equal request serves, where nothing but values differs. */
export function keptPlan(branch: Branch, needs: BranchNeeds, wanted: number, session: Session): KeptPlan {
  const { cursor, placeholders, also, selection } = needs;
  const { env, stages } = session;
  // What a cursor of sort values means in SQL depends on the values themselves.
  if (placeholders === undefined || env.rules !== ALL_RULES || (cursor && needs.sort.length > 0))
    return { planned: stages.time('plan', () => planBranch(branch, needs, wanted, session)), placeholders };
  const plans = plansOf(branch);
  const selected = selectionKey(selection);
  const key = cursor || also ? `${selected} ${cursorShape(branch, cursor)} ${also?.key ?? ''}` : selected;
  const limit = limitOf(wanted, cursor);
  const whole = cursor ? [...placeholders, ...cursor.key, limit] : [...placeholders, limit];
  const known = plans.get(key);
  if (known && servesInstant(known, env)) return { planned: known.made, placeholders: whole };
  const planned = stages.time('plan', () =>
    forInstants(env, within => planBranch(branch, needs, wanted, { ...session, env: within }, placeholders.length)),
  );
  if (planned.checks !== 'once') {
    if (plans.size === PLANS) plans.clear();
    plans.set(key, planned);
  }
  return { planned: planned.made, placeholders: whole };
}

function plansOf(branch: Branch): Plans {
  const known = kept.get(branch);
  if (known) return known;
  const plans: Plans = new Map();
  kept.set(branch, plans);
  return plans;
}

/** What of a cursor without sort values decides on the plan: all but the values of its key. */
function cursorShape(branch: Branch, cursor: Cursor | undefined): string {
  if (!cursor) return '';
  const { group, branch: ordinal, key } = cursor;
  const place = branch.group === group ? 'within' : branch.ordinal > ordinal ? 'behind' : 'before';
  return `${place} ${key.map(valueShape).join('')}`;
}

/** The row of the cursor may come again for its further resources. */
function limitOf(wanted: number, cursor: Cursor | undefined): number {
  return wanted + (cursor ? 1 : 0);
}

/**
 * Undefined: the branch has no rows that could match. `place`: in a plan that is kept, that of the first value of the
 * cursor's key; the limit has the place behind them.
 */
export function planBranch(
  branch: Branch,
  request: BranchNeeds,
  wanted: number,
  session: Session,
  place?: number,
): BranchPlan | undefined {
  const { env } = session;
  const after = request.cursor ? afterCursor(branch, request.sort, request.cursor, place) : TRUE;
  const where = and(branch.where, after);
  const [first] = branch.mappings;
  if (where.kind === 'false' || !first) return undefined;
  const mappings = branch.mappings.map(({ mapping }) => mapping);
  const also = mappings.map(mapping => request.also?.of(mapping) ?? { columns: [], nodes: [] });
  const shaped = session.shapes.of(
    {
      mappings,
      selection: request.selection,
      columns: also.flatMap(a => a.columns),
      nodes: also.flatMap(a => a.nodes),
    },
    env,
  );
  const columns: Expression[] = [...shaped.shape.columns];
  const flags = branch.mappings.map(({ when }) => (when.kind === 'true' ? undefined : columns.push(flag(when)) - 1));
  const sortAt = branch.sort.map(face => {
    const at = columns.length;
    if (face) columns.push(...face.by);
    return at;
  });
  const orderBy = orderOf(branch, request.sort);
  const limit = limitOf(wanted, request.cursor);
  const limitPlace = place === undefined ? undefined : place + (request.cursor?.key.length ?? 0);
  const from = bareRelation(first.mapping.source, where, env, [...columns, ...orderBy.map(({ by }) => by)]);
  const plan: SqlPlan = { from, columns, orderBy, limit, limitPlace, shape: 'rows', searches: true };
  return { plan, mapping: first.mapping.name, shaped, flags, sortAt };
}
