/**
 * Fetches the child rows of `each`: one statement per collection and page, never one per row. In: rows of a level. Out:
 * the children of each row.
 */
import { memoized } from '../common/caches.ts';
import { columnDigits } from '../mapping/codecs/number.ts';
import type { JoinColumn } from '../mapping/model.ts';
import { scopeRelation } from '../plan/condition.ts';
import { ALL_RULES, type Environment } from '../plan/environment.ts';
import { canBePlaceholders, inStatements, type Key, keyText, theirsAmong } from '../plan/key.ts';
import { type ForInstants, forInstants, servesInstant } from '../plan/reuse/moments.ts';
import { pieceKeys } from '../resource/each.ts';
import { castTo } from '../resource/raw.ts';
import { type ChildRow, type Children, childrenOf, NO_CHILDREN } from '../resource/rows.ts';
import type { ChildShape, LevelShape } from '../resource/shape.ts';
import { holdsAnyNumber, isOfAnyLength, UNICODE } from '../sql/column-type.ts';
import { call } from '../sql/construct.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { familyOf } from '../sql/parameter-type.ts';
import type { PlaceholderValues, Row, SqlPlan } from '../sql/plan.ts';
import { ByteLimit, bytesOf } from '../sql/row-limits.ts';
import { valueShape } from '../sql/statement.ts';
import { type Session, TooManyBytes } from './session.ts';

/** Limit of child rows of one statement; more means that the mapping's `on` is wrong. */
const CHILD_ROWS_AT_MOST = 200_000;
/** Rows of any declared length up to which their bytes are not counted. */
const FEW = 1000;

/** Bytes that child rows may still have. */
export interface BytesLeft {
  bytes: number;
}

/**
 * Returns the children of each row, at all levels. `mapping`: the mapping that the rows belong to. `left`: undefined
 * for any number of bytes. Throws TooManyBytes.
 */
export async function readChildren(
  rows: readonly Row[],
  level: LevelShape,
  mapping: string,
  session: Session,
  left: BytesLeft | undefined,
): Promise<readonly Children[]> {
  if (level.children.length === 0 || rows.length === 0) return rows.map(() => NO_CHILDREN);
  const lists = await Promise.all(level.children.map(shape => readCollection(rows, shape, mapping, session, left)));
  return childrenOf(rows, level, lists);
}

/** Subtracts what a statement has read. */
function subtract(rows: readonly Row[], limit: ByteLimit | undefined, left: BytesLeft): void {
  if (limit) left.bytes -= limit.bytes;
  else if (rows.length > FEW) for (const row of rows) left.bytes -= bytesOf(row);
  if (limit?.reached || left.bytes < 0) throw new TooManyBytes();
}

async function readCollection(
  parents: readonly Row[],
  shape: ChildShape,
  mapping: string,
  session: Session,
  left: BytesLeft | undefined,
): Promise<readonly ChildRow[]> {
  const { on, scope } = shape.each.from;
  const keys = distinctKeys(parents, shape, on);
  const rows: Row[] = [];
  const isUnbounded = shape.columns.some(({ type }) => isOfAnyLength(type));
  for (const some of inStatements(keys)) {
    const { plan, placeholders } = collectionPlan(shape, some, session.env);
    const limit = left && isUnbounded ? new ByteLimit(left.bytes, 0) : undefined;
    const found = await session.query(plan, mapping, placeholders, limit);
    if (left) subtract(found, limit, left);
    if (found.length >= CHILD_ROWS_AT_MOST)
      throw new RangeError(`more than ${CHILD_ROWS_AT_MOST} rows of ${scope.table.name} for one page`);
    for (const row of found) rows.push(row);
  }
  const children = await readChildren(rows, shape, mapping, session, left);
  return rows.map((row, i) => ({ row, children: children[i] ?? NO_CHILDREN }));
}

/** Limit of plans per collection: for a few parents each, with keys of several shapes. */
const PLANS = 20;

/** Weak keys: a shape lives as long as its mapping. */
const plansOf = memoized((_shape: ChildShape) => new Map<string, ForInstants<SqlPlan>>());

/** Returns the statement for the children of these keys, cached for equally many keys of the same shapes. */
function collectionPlan(
  shape: ChildShape,
  keys: readonly Key[],
  env: Environment,
): { readonly plan: SqlPlan; readonly placeholders?: PlaceholderValues } {
  if (!canBePlaceholders(keys) || env.rules !== ALL_RULES) return { plan: planCollection(shape, keys, env) };
  const plans = plansOf(shape);
  const key = keys.map(values => values.map(valueShape).join('')).join('/');
  const placeholders = keys.flat();
  const known = plans.get(key);
  if (known && servesInstant(known, env)) return { plan: known.made, placeholders };
  const plan = forInstants(env, within => planCollection(shape, keys, within, 0));
  if (plan.checks !== 'once') {
    if (plans.size === PLANS) plans.clear();
    plans.set(key, plan);
  }
  return { plan: plan.made, placeholders };
}

function planCollection(shape: ChildShape, keys: readonly Key[], env: Environment, placeholder?: number): SqlPlan {
  const { on, scope, order } = shape.each.from;
  const expressions = [...shape.columns, ...order.map(({ by }) => by)];
  return {
    from: scopeRelation(scope, theirsAmong(on.map(theirsOf), keys, placeholder), env, expressions),
    columns: shape.columns,
    orderBy: order,
    limit: CHILD_ROWS_AT_MOST,
    shape: 'rows',
  };
}

function theirsOf({ theirs, fold }: JoinColumn): { readonly theirs: Expression } {
  return { theirs: fold ? call('upper', [theirs], UNICODE) : theirs };
}

/**
 * Returns the distinct keys of the parents in the form of `theirs`; a parent with a NULL in its key has no children.
 */
function distinctKeys(
  parents: readonly Row[],
  shape: ChildShape,
  on: readonly JoinColumn[],
): readonly (readonly SqlValue[])[] {
  const keys = new Map<string, readonly SqlValue[]>();
  for (const key of keysOf(parents, shape, on)) {
    if (key.includes(null)) continue;
    keys.set(keyText(key), key);
  }
  return [...keys.values()];
}

/** Returns one key per row, or one per piece of its column. */
function keysOf(
  parents: readonly Row[],
  { each, parentPositions }: ChildShape,
  on: readonly JoinColumn[],
): readonly (readonly SqlValue[])[] {
  const { of } = each.from;
  if (!of) return parents.map(parent => parentPositions.map((at, i) => inFormOf(parent[at] ?? null, on[i])));
  const [at = 0] = parentPositions;
  return parents.flatMap(parent =>
    pieceKeys(parent[at] ?? null, of, on).map(key => key.map((raw, i) => inFormOf(raw, on[i]))),
  );
}

/** Converts our raw value to the form of their column; null if their column cannot contain it. */
export function inFormOf(raw: SqlValue, on: JoinColumn | undefined): SqlValue {
  if (raw === null || !on) return null;
  const { type } = on.theirs;
  if (on.ours.type.kind === 'text' && familyOf(type) === 'number') {
    const number = castTo(type, on.ours.type)(raw);
    return number === null ? null : String(number);
  }
  if (holdsAnyNumber(type)) return columnDigits(raw) ?? null;
  if (type.kind === 'integer' && typeof raw === 'string') return /^-?\d{1,18}$/.test(raw.trim()) ? raw.trim() : null;
  if (type.kind === 'text') return castTo(type, on.ours.type)(raw);
  return raw;
}
