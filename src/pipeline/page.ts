/**
 * Reads one page of matches. In: the branches of a search. Out: rows in order, each with its mapping, and the cursor of
 * the next page. Without sort keys branches are read one after the other; with sort keys they are merged, and each
 * returns at most the rows that the page can need. A page ends early if its rows would have too many bytes.
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
import { ByteLimit } from '../sql/row-limits.ts';
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
  /** True if the page ended because of its bytes. */
  readonly isFull: boolean;
}

export interface PageRequest extends BranchNeeds {
  readonly count: number;
  /** Bytes of all rows; undefined: any number. At least one match is read whatever its size, unless `least` is 0. */
  readonly bytes?: number | undefined;
  readonly least?: 0;
}

export function readPage(branches: readonly Branch[], request: PageRequest, session: Session): Awaitable<Page> {
  return andThen(matchesOfAll(branches, request, session), ({ matches: found, isFull }) => {
    if (found.length <= request.count) {
      if (!isFull) return { matches: found, next: undefined, isFull };
      if (found.length === 0 && request.least !== 0) throw noResources();
      return { matches: found, next: cursorAfter(found.at(-1), session), isFull };
    }
    const matches = found.slice(0, request.count);
    return { matches, next: cursorAfter(matches.at(-1), session), isFull: false };
  });
}

function noResources(): RangeError {
  return new RangeError('rows that are no resource of any mapping');
}

interface Found extends Pick<Page, 'matches' | 'isFull'> {
  /** Bytes of the rows, as far as they were counted. */
  readonly bytes: number;
}

function matchesOfAll(branches: readonly Branch[], request: PageRequest, session: Session): Awaitable<Found> {
  if (request.sort.length > 0) return merged(branches, request, session);
  const only = branches.length === 1 ? branches[0] : undefined;
  return only ? readBranch(only, request, request.count + 1, session) : inTurn(branches, request, session);
}

/**
 * Returns the limit of a statement; undefined if all its columns declare a length, so that the number of rows bounds
 * it. The row of the cursor may come again, beside a new one.
 */
function limitOf({ bytes, cursor, least }: PageRequest, { isUnbounded }: BranchPlan): ByteLimit | undefined {
  return bytes === undefined || !isUnbounded ? undefined : new ByteLimit(bytes, least ?? (cursor ? 2 : 1));
}

async function inTurn(branches: readonly Branch[], request: PageRequest, session: Session): Promise<Found> {
  const found: Match[] = [];
  let bytes = 0;
  for (const branch of branches) {
    const wanted = request.count + 1 - found.length;
    if (wanted <= 0) break;
    // Without a match yet the page still needs one: the rows so far were only that of the cursor.
    const rest: PageRequest =
      found.length === 0 || bytes === 0 || request.bytes === undefined
        ? request
        : { ...request, bytes: request.bytes - bytes, least: 0 };
    const more = await readBranch(branch, rest, wanted, session);
    found.push(...more.matches);
    bytes += more.bytes;
    if (more.isFull) return { matches: found, isFull: true, bytes };
  }
  return { matches: found, isFull: false, bytes };
}

async function merged(branches: readonly Branch[], request: PageRequest, session: Session): Promise<Found> {
  const wanted = request.count + 1;
  const share = request.bytes === undefined ? undefined : request.bytes / branches.length;
  let found: readonly Match[] = [];
  let bytes = 0;
  /** True if a branch had too many bytes for its first row. */
  let hasNothing = false;
  /** The first match after which rows were left out. Rows of other branches may come only after those. */
  let last: Match | undefined;
  const read = async (branch: Branch): Promise<void> => {
    const {
      matches: more,
      isFull,
      bytes: own,
    } = await readBranch(branch, { ...request, bytes: share }, wanted, session);
    const end = isFull ? more.at(-1) : undefined;
    if (isFull && !end && request.least !== 0) throw noResources();
    hasNothing ||= isFull && !end;
    bytes += own;
    if (end && (!last || compareMatches(end, last, request.sort) < 0)) last = end;
    // Keeps at most one page. The sort is stable, so rows of one branch keep the database's order.
    found = [...found, ...more].sort((a, b) => compareMatches(a, b, request.sort)).slice(0, wanted);
    const at = last ? found.indexOf(last) : -1;
    if (at >= 0) found = found.slice(0, at + 1);
  };
  const hasValue = ({ sort }: Branch): boolean => sort[0] !== null;
  await Promise.all(branches.filter(hasValue).map(read));
  // Rows without the value come last, so they are read only if the others do not fill the page.
  if (found.length < wanted && !last && !hasNothing)
    await Promise.all(branches.filter(branch => !hasValue(branch)).map(read));
  if (hasNothing) return { matches: [], isFull: true, bytes };
  return { matches: found, isFull: last !== undefined && found.at(-1) === last, bytes };
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

function readBranch(branch: Branch, request: PageRequest, wanted: number, session: Session): Awaitable<Found> {
  const { planned, placeholders } = cachedPlan(branch, request, wanted, session);
  if (!planned) return NOTHING;
  if (isWithoutRows(branch)) return { matches: matchesOf(ONE_ROW, branch, planned, request), isFull: false, bytes: 0 };
  const limit = limitOf(request, planned);
  return andThen(session.query(planned.plan, planned.mapping, placeholders, limit), rows => ({
    matches: matchesOf(rows, branch, planned, request),
    isFull: limit?.reached === true,
    bytes: limit?.bytes ?? 0,
  }));
}

const NOTHING: Found = { matches: [], isFull: false, bytes: 0 };

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
      const bytes = limitOf(begun, planned);
      let rowsSoFar = 0;
      for await (const rows of session.stream(planned.plan, size, planned.mapping, placeholders, bytes)) {
        const matches = matchesOf(rows, branch, planned, begun);
        cursor = cursorAfter(matches.at(-1), session) ?? cursor;
        if (matches.length > 0) yield { matches, last: cursor };
        rowsSoFar += rows.length;
      }
      more = bytes?.reached === true || (rowsSoFar > 0 && rowsSoFar % size === 0);
      if (more && cursor === begun.cursor) throw noResources();
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

/** Returns the cursor of the page that begins after a match. */
export function cursorAfter(match: Match | undefined, { env }: Session): Cursor | undefined {
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
