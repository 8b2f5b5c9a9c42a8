/**
 * Reads one page of matches. In: the branches of a search. Out: rows in order, each with its mapping, and the cursor of
 * the next page. Without sort keys branches are read one after the other; with sort keys they are merged, and each
 * returns at most the rows that the page can need.
 */
import { type Awaitable, andThen } from '../common/awaitable.ts';
import type { Mapping } from '../mapping/model.ts';
import { type Branch, isWithoutRows } from '../plan/branches.ts';
import { bareRelation } from '../plan/condition.ts';
import { keyText } from '../plan/key.ts';
import type { Cursor } from '../search/cursor.ts';
import type { SortKey } from '../search/query.ts';
import { flag, or } from '../sql/construct.ts';
import type { SqlValue } from '../sql/expression.ts';
import type { PlaceholderValues, Row, SqlPlan } from '../sql/plan.ts';
import { type BranchNeeds, type BranchPlan, cachedPlan } from './branch-plan.ts';
import type { Session } from './session.ts';
import type { Shaped } from './shapes.ts';

export interface Match {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly shaped: Shaped;
  readonly branch: Branch;
  /** The row's value for each sort key. */
  readonly sort: Cursor['sort'];
}

export interface Page {
  readonly matches: readonly Match[];
  readonly next: Cursor | undefined;
}

export interface PageRequest extends BranchNeeds {
  readonly count: number;
}

export function readPage(branches: readonly Branch[], request: PageRequest, session: Session): Awaitable<Page> {
  return andThen(matchesOfAll(branches, request, session), found => {
    if (found.length <= request.count) return { matches: found, next: undefined };
    const matches = found.slice(0, request.count);
    return { matches, next: cursorOf(matches.at(-1), session) };
  });
}

function matchesOfAll(
  branches: readonly Branch[],
  request: PageRequest,
  session: Session,
): Awaitable<readonly Match[]> {
  if (request.sort.length > 0) return merged(branches, request, session);
  const only = branches.length === 1 ? branches[0] : undefined;
  return only ? readBranch(only, request, request.count + 1, session) : inTurn(branches, request, session);
}

async function inTurn(branches: readonly Branch[], request: PageRequest, session: Session): Promise<readonly Match[]> {
  const found: Match[] = [];
  for (const branch of branches) {
    const wanted = request.count + 1 - found.length;
    if (wanted <= 0) break;
    found.push(...(await readBranch(branch, request, wanted, session)));
  }
  return found;
}

async function merged(branches: readonly Branch[], request: PageRequest, session: Session): Promise<readonly Match[]> {
  const wanted = request.count + 1;
  let found: readonly Match[] = [];
  const read = async (branch: Branch): Promise<void> => {
    const more = await readBranch(branch, request, wanted, session);
    // Keeps at most one page. The sort is stable, so rows of one branch keep the database's order.
    found = [...found, ...more].sort((a, b) => compareMatches(a, b, request.sort)).slice(0, wanted);
  };
  const hasValue = ({ sort }: Branch): boolean => sort[0] !== null;
  await Promise.all(branches.filter(hasValue).map(read));
  // Rows without the value come last, so they are read only if the others do not fill the page.
  if (found.length < wanted) await Promise.all(branches.filter(branch => !hasValue(branch)).map(read));
  return found;
}

function compareMatches(a: Match, b: Match, sort: readonly SortKey[]): number {
  return compareSorts(a.sort, b.sort, sort) || a.branch.ordinal - b.branch.ordinal;
}

/** Compares the sort values of two resources: negative if the first ones come first. */
function compareSorts(a: Cursor['sort'], b: Cursor['sort'], sort: readonly SortKey[]): number {
  for (const [i, key] of sort.entries()) {
    const order = compareKeys(a[i] ?? null, b[i] ?? null, key.descending);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares two values; missing values come last in both directions. */
function compareKeys(a: number | string | null, b: number | string | null, descending: boolean): number {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
  if (a === b) return 0;
  return a < b === descending ? 1 : -1;
}

function readBranch(
  branch: Branch,
  request: PageRequest,
  wanted: number,
  session: Session,
): Awaitable<readonly Match[]> {
  const { planned, placeholders } = cachedPlan(branch, request, wanted, session);
  if (!planned) return NO_MATCHES;
  if (isWithoutRows(branch)) return matchesOf(ONE_ROW, branch, planned, request);
  return andThen(session.query(planned.plan, planned.mapping, placeholders), rows =>
    matchesOf(rows, branch, planned, request),
  );
}

const NO_MATCHES: readonly Match[] = [];

/** Replaces the rows of a branch without rows: constants need no column. */
const ONE_ROW: readonly Row[] = [[]];

/** Limit of lists of rows per statement of a stream: it occupies a connection, and on some servers holds a lock. */
const LISTS_PER_STATEMENT = 20;

export interface Stretch {
  readonly matches: readonly Match[];
  /** The cursor of the last match. */
  readonly last: Cursor | undefined;
}

/**
 * Yields all matches after the cursor, without sort keys, in lists of about `count`; fetches rows as lists are taken.
 */
export async function* streamMatches(
  branches: readonly Branch[],
  request: Omit<PageRequest, 'sort'>,
  session: Session,
): AsyncGenerator<Stretch, void, undefined> {
  for (const branch of branches) {
    let cursor = request.cursor;
    for (let more = true; more; ) {
      // A branch of a stream has no placeholders except the cursor's.
      const begun: PageRequest = { ...request, sort: [], cursor, placeholders: [] };
      // The row of the cursor may come again.
      const size = request.count + (cursor ? 1 : 0);
      const wanted = size * LISTS_PER_STATEMENT - (cursor ? 1 : 0);
      const { planned, placeholders } = cachedPlan(branch, begun, wanted, session);
      if (!planned) break;
      more = false;
      for await (const rows of session.stream(planned.plan, size, planned.mapping, placeholders)) {
        const matches = matchesOf(rows, branch, planned, begun);
        cursor = cursorOf(matches.at(-1), session) ?? cursor;
        if (matches.length > 0) yield { matches, last: cursor };
        more = rows.length === size;
      }
      if (more && cursor === begun.cursor) throw new RangeError('rows that are no resource of any mapping');
    }
  }
}

function matchesOf(rows: readonly Row[], branch: Branch, planned: BranchPlan, request: PageRequest): readonly Match[] {
  const { cursor } = request;
  const { shaped, flags } = planned;
  const matches: Match[] = [];
  for (const row of rows) {
    const sort = sortKeysOf(branch, planned, row);
    const resumed = cursor?.group === branch.group && isAt(cursor, shaped, row) ? cursor.ordinal : BEFORE_ALL;
    for (let i = 0; i < branch.mappings.length; i++) {
      const mapping = branch.mappings[i]?.mapping;
      const at = flags[i];
      if (!mapping || mapping.ordinal <= resumed || (at !== undefined && row[at] !== 1)) continue;
      matches.push({ mapping, row, shaped, branch, sort });
    }
  }
  return matches;
}

const BEFORE_ALL = -1;

/** Removes duplicate matches of the same row and mapping. */
export function distinct(matches: readonly Match[]): readonly Match[] {
  const named = ({ mapping, row, shaped }: Match): string => `${mapping.name} ${keyText(keyOf(shaped, row))}`;
  return [...new Map(matches.map(match => [named(match), match])).values()];
}

function keyOf({ shape }: Shaped, row: Row): readonly SqlValue[] {
  return shape.key.map(at => row[at] ?? null);
}

/** Returns the cursor after a match. */
function cursorOf(match: Match | undefined, { env }: Session): Cursor | undefined {
  if (!match) return undefined;
  const { branch, mapping, row, shaped, sort } = match;
  const { group, ordinal } = branch;
  return { group, branch: ordinal, key: keyOf(shaped, row), ordinal: mapping.ordinal, sort, now: env.now };
}

const UNSORTED: Cursor['sort'] = [];

function sortKeysOf(branch: Branch, { sortAt }: BranchPlan, row: Row): Cursor['sort'] {
  if (branch.sort.length === 0) return UNSORTED;
  return branch.sort.map((face, i) => {
    const at = sortAt[i] ?? 0;
    if (!face) return null;
    const raws = row.slice(at, at + face.by.length);
    const key = face.order.toKey(raws);
    if (key !== undefined) return key;
    const [raw] = raws;
    return typeof raw === 'string' || typeof raw === 'number' ? raw : null;
  });
}

/** True if the cursor points at this row. */
function isAt({ key }: Cursor, { shape }: Shaped, row: Row): boolean {
  if (key.length !== shape.key.length) return false;
  for (let i = 0; i < key.length; i++) if (!same(key[i] ?? null, row[shape.key[i] ?? 0] ?? null)) return false;
  return true;
}

function same(a: SqlValue, b: SqlValue): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;
}

/** Counts all matches. `placeholders`: those of the branches' plan. */
export async function countMatches(
  branches: readonly Branch[],
  session: Session,
  placeholders?: PlaceholderValues,
): Promise<number> {
  const counts = await Promise.all(
    branches.map(async branch => {
      const { where, mappings } = branch;
      const [first] = mappings;
      if (!first) return 0;
      if (isWithoutRows(branch)) return mappings.length;
      const columns =
        mappings.every(({ when }) => when.kind === 'true') && mappings.length === 1
          ? []
          : mappings.map(({ when }) => flag(or(when)));
      const from = bareRelation(first.mapping.source, where, session.env, columns);
      const plan: SqlPlan = { from, columns, orderBy: [], limit: 1, shape: 'count', searches: true };
      const [row] = await session.query(plan, first.mapping.name, placeholders);
      return Number(row?.[0] ?? 0);
    }),
  );
  return counts.reduce((sum, n) => sum + n, 0);
}
