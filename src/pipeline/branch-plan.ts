/**
 * Plans the statement of a branch. In: a branch, the requested elements, the cursor. Out: a plan whose columns are
 * those of the row shape, then flags of the mappings, then sort expressions. It is cached as long as its branch, for
 * requests that differ only in ids and cursor values. It continues after a cursor by the cursor's key, without OFFSET,
 * so that page 1,000 costs as much as page 1.
 */
import { memoized } from '../common/caches.ts';
import type { Mapping } from '../mapping/model.ts';
import type { Branch } from '../plan/branches.ts';
import { bareRelation } from '../plan/condition.ts';
import { ALL_RULES } from '../plan/environment.ts';
import { type ForInstants, forInstants, servesInstant } from '../plan/reuse/moments.ts';
import type { SortFace } from '../plan/sort.ts';
import { selectionKey } from '../resource/selection.ts';
import type { Cursor } from '../search/cursor.ts';
import type { Selection, SortKey } from '../search/query.ts';
import { INTEGER, isOfAnyLength } from '../sql/column-type.ts';
import { and, compare, equals, FALSE, flag, or, placeholderFor, TRUE, value } from '../sql/construct.ts';
import type { Expression, Operator, Order, Predicate } from '../sql/expression.ts';
import type { PlaceholderValues, SqlPlan } from '../sql/plan.ts';
import { valueShape } from '../sql/statement.ts';
import type { Session } from './session.ts';
import type { Shaped, ShapeRequest } from './shapes.ts';

/** What a request needs from the rows of branches, and where it starts. */
export interface BranchNeeds {
  readonly sort: readonly SortKey[];
  readonly selection: Selection;
  readonly cursor: Cursor | undefined;
  readonly also?: AlsoWanted | undefined;
  /** Values of the placeholders of the branches; without them each plan is for one use. */
  readonly placeholders?: PlaceholderValues;
}

/** Columns, and nodes of references, that later stages need from each row. */
export interface AlsoWanted {
  /** Equal for equal needs. */
  readonly key: string;
  of(mapping: Mapping): Pick<ShapeRequest, 'columns' | 'nodes'>;
}

export interface BranchPlan {
  readonly plan: SqlPlan;
  /** The first of the mappings that share the statement. */
  readonly mapping: string;
  readonly shaped: Shaped;
  /** Position of each mapping's flag; undefined if every row belongs to it. */
  readonly flags: readonly (number | undefined)[];
  readonly sortAt: readonly number[];
  /** True if a row can be of any size, because a column declares no length. */
  readonly isUnbounded: boolean;
}

export interface CachedPlan {
  /** Undefined if no row of the branch can match. */
  readonly planned: BranchPlan | undefined;
  readonly placeholders: PlaceholderValues | undefined;
}

/** Limit of plans per branch: with and without a cursor, for several selections. */
const PLANS = 20;

const plansOf = memoized((_branch: Branch) => new Map<string, ForInstants<BranchPlan | undefined>>());

/** Returns the plan of a branch, cached for requests that differ only in values. */
export function cachedPlan(branch: Branch, needs: BranchNeeds, wanted: number, session: Session): CachedPlan {
  const { cursor, placeholders, also, selection } = needs;
  const { env, stages } = session;
  // The SQL of a cursor with sort values depends on the values themselves.
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

/** Returns what a plan depends on in a cursor without sort values: all but the values of its key. */
function cursorShape(branch: Branch, cursor: Cursor | undefined): string {
  if (!cursor) return '';
  const { group, branch: ordinal, key } = cursor;
  const place = branch.group === group ? 'within' : branch.ordinal > ordinal ? 'behind' : 'before';
  return `${place} ${key.map(valueShape).join('')}`;
}

/** Adds one row for a cursor, because its row may come again for its further resources. */
function limitOf(wanted: number, cursor: Cursor | undefined): number {
  return wanted + (cursor ? 1 : 0);
}

/**
 * Plans a branch. Undefined if no row of the branch can match. `placeholder`: in a cached plan, the number of the first
 * value of the cursor's key; the limit's follows them.
 */
export function planBranch(
  branch: Branch,
  request: BranchNeeds,
  wanted: number,
  session: Session,
  placeholder?: number,
): BranchPlan | undefined {
  const { env } = session;
  const after = request.cursor ? afterCursor(branch, request.sort, request.cursor, placeholder) : TRUE;
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
  const limitPlaceholder = placeholder === undefined ? undefined : placeholder + (request.cursor?.key.length ?? 0);
  const from = bareRelation(first.mapping.source, where, env, [...columns, ...orderBy.map(({ by }) => by)]);
  const plan: SqlPlan = { from, columns, orderBy, limit, limitPlaceholder, shape: 'rows', searches: true };
  const isUnbounded = columns.some(({ type }) => isOfAnyLength(type));
  return { plan, mapping: first.mapping.name, shaped, flags, sortAt, isUnbounded };
}

/** Returns the order: sort values first, the unique key last. */
export function orderOf(branch: Branch, sort: readonly SortKey[]): readonly Order[] {
  const order: Order[] = [];
  branch.sort.forEach((face, i) => {
    for (const by of face?.by ?? []) order.push({ by, descending: sort[i]?.descending ?? false });
  });
  // Keys use the order of their own index, whatever its collation.
  for (const by of branch.mappings[0]?.mapping.source.key ?? []) order.push({ by, descending: false, native: true });
  return order;
}

/**
 * Returns rows of a branch after a cursor or at its row, because that row may have further resources. Without sort keys
 * this is a plain comparison of keys. `placeholder`: the number of the first value of the cursor's key, in a plan that
 * is reused.
 */
export function afterCursor(branch: Branch, sort: readonly SortKey[], cursor: Cursor, placeholder?: number): Predicate {
  const position = positionOf(branch, sort, cursor);
  const bound = leadingBound(branch, sort, cursor);
  const same = branch.group === cursor.group;
  const before = position.after;
  if (position.tied.kind === 'false') return and(bound, before);
  // With equal sort values, branches come in the order of their ordinals, and rows of the cursor's own branch by key.
  if (!same) return and(bound, branch.ordinal > cursor.branch ? or(before, position.tied) : before);
  return and(bound, or(before, and(position.tied, fromKey(branch, cursor, placeholder))));
}

/**
 * Returns a bound on the first sort column that all rows after the cursor satisfy, so that the index is entered at the
 * cursor. For the OR of the exact position alone the engine would read the index from its beginning for each page.
 */
function leadingBound(branch: Branch, sort: readonly SortKey[], cursor: Cursor): Predicate {
  const [face] = branch.sort;
  const key = cursor.sort[0] ?? null;
  const [raw] = (face && key !== null && face.side?.(key) === undefined && face.order.fromKey(key)) || [];
  if (!face || raw === undefined) return TRUE;
  return compareAt(face, 0, sort[0]?.descending ? '<=' : '>=', value(raw, face.by[0]?.type ?? INTEGER));
}

function fromKey(branch: Branch, cursor: Cursor, placeholder: number | undefined): Predicate {
  const key = branch.mappings[0]?.mapping.source.key ?? [];
  // Without rows there is only one, which `matchesOf` continues.
  if (key.length === 0) return TRUE;
  const against = (i: number, op: Operator): Predicate => {
    const column = key[i];
    if (!column) return FALSE;
    const content = cursor.key[i] ?? null;
    return {
      kind: 'compare',
      left: column,
      op,
      right:
        placeholder === undefined ? value(content, column.type) : placeholderFor(content, column.type, placeholder + i),
      native: true,
      not: false,
    };
  };
  const steps = key.map((_, i) =>
    and(...key.slice(0, i).map((_, j) => against(j, '=')), against(i, i === key.length - 1 ? '>=' : '>')),
  );
  // With the leading bound the index is entered at the cursor, although the rest is an OR.
  return key.length > 1 ? and(against(0, '>='), or(...steps)) : or(...steps);
}

/** Returns the condition for sort values strictly after the cursor's, and the condition for the same sort values. */
function positionOf(
  branch: Branch,
  sort: readonly SortKey[],
  cursor: Cursor,
): { readonly after: Predicate; readonly tied: Predicate } {
  let tied: Predicate = TRUE;
  const after: Predicate[] = [];
  branch.sort.forEach((face, i) => {
    const key = cursor.sort[i] ?? null;
    const descending = sort[i]?.descending ?? false;
    if (!face) {
      // All rows of this branch lack the value: they come last, after any row with a value, and tie with one without.
      if (key !== null) {
        after.push(tied);
        tied = FALSE;
      }
      return;
    }
    if (key === null) {
      tied = FALSE;
      return;
    }
    const side = face.side?.(key);
    const raws = side === undefined ? face.order.fromKey(key) : undefined;
    if (raws === undefined) {
      if ((side === 'above') !== descending) after.push(tied);
      tied = FALSE;
      return;
    }
    const own = face.order.toKey(raws);
    // If the branch has no value with exactly this key, nothing ties: its next rows are at or after `raws`.
    const exact = own === key || own === undefined;
    const limits = raws.map((raw, j) => value(raw, face.by[j]?.type ?? INTEGER));
    const beyond = descending ? '<' : '>';
    limits.forEach((limit, j) => {
      const last = j === limits.length - 1;
      const op = last && !exact && !descending ? '>=' : beyond;
      after.push(and(tied, ...sameValues(face, limits.slice(0, j)), compareAt(face, j, op, limit)));
    });
    tied = exact ? and(tied, ...sameValues(face, limits)) : FALSE;
  });
  return { after: or(...after), tied };
}

function sameValues(face: SortFace, limits: readonly Expression[]): readonly Predicate[] {
  return limits.map((limit, i) => {
    const by = face.by[i];
    return by ? equals(by, limit) : FALSE;
  });
}

function compareAt(face: SortFace, at: number, op: Operator, limit: Expression): Predicate {
  const by = face.by[at];
  return by ? compare(by, op, limit) : FALSE;
}
