/**
 * Answers a search. In: a query over one or several types, and what the caller may see. Out: the resources of one page,
 * their includes, the cursor of the next page, and the total if it is known; or a searchset Bundle of these.
 * https://hl7.org/fhir/R4/http.html#paging
 */

import { setImmediate } from 'node:timers/promises';
import { memoized } from '../common/caches.ts';
import { issueOf } from '../outcome.ts';
import { type Branch, branchesOf, groupBranches, isWithoutRows } from '../plan/branches.ts';
import type { Environment } from '../plan/environment.ts';
import { type QuestionsWithoutIds, withoutIds } from '../plan/reuse/id-parameters.ts';
import { planKey } from '../plan/reuse/plan-cache.ts';
import { type EntryText, searchsetBundle } from '../resource/bundle.ts';
import type { WriteContext } from '../resource/compile.ts';
import { type Cursor, type CursorCodec, pageBefore } from '../search/cursor.ts';
import type { AnswerShape, SystemQuery } from '../search/query.ts';
import { fetchKey } from '../sql/expression-key.ts';
import { bytesOf } from '../sql/row-limits.ts';
import type { AlsoWanted } from './branch-plan.ts';
import { type Emitted, emitRows, onlyResources } from './emitted.ts';
import { frontierOf, wantedForIncludes } from './frontier.ts';
import { type AskedRows, type Included, type ReadRows, readIncluded } from './includes.ts';
import { countMatches, cursorAfter, distinct, type Match, type PageRequest, readPage } from './page.ts';
import { planCached } from './plans.ts';
import { SEALED } from './sealed-parameters.ts';
import { type Room, type Session, TooManyBytes, tooLarge } from './session.ts';

export interface Answer {
  readonly matches: readonly EntryText[];
  readonly included: Included;
  readonly next: Cursor | undefined;
  readonly total: number | undefined;
  /** If requested: the numbers of matches by their logical ids, for mappings that have a `number`. */
  readonly numbers: ReadonlyMap<string, string> | undefined;
}

export interface AnswerContext {
  /** Returns whether a type may be included; undefined: any type. */
  readonly includable?: ((type: string) => boolean) | undefined;
  readonly write: WriteContext;
  /** True if the numbers of matches are requested; only for a search without includes. */
  readonly numbered?: boolean | undefined;
  /** Rows per list. Default: LIST. */
  readonly list?: number | undefined;
}

export async function answerQuery(query: SystemQuery, context: AnswerContext, session: Session): Promise<Answer> {
  const { selection, count, cursor } = query;
  const { questions } = query;
  const parameterized = formOf(questions);
  const plan = (env: Environment) => branchesOfAll(parameterized.questions, env);
  const { planned: branches, placeholders } = await planCached(session, plan, parameterized);
  const sort = query.questions[0]?.sort ?? [];
  const including = wantedForIncludes(query, session);
  const numbers = context.numbered ? new Map<string, string>() : undefined;
  const also = including ?? (numbers && NUMBERED);
  const request = { sort, selection, count, cursor, also, placeholders, list: context.list };
  const { matches, next, included } =
    count === 0
      ? { matches: [], next: undefined, included: NOTHING }
      : including
        ? await writeWithIncludes(branches, request, query, context, session)
        : {
            ...(await writeInLists(branches, request, context.write, session, numbers && noting(numbers))),
            included: NOTHING,
          };
  const complete = cursor === undefined && next === undefined && count > 0;
  const isFree = branches.every(isWithoutRows);
  const isWanted = isFree || query.total !== 'none';
  const total = complete ? matches.length : isWanted ? await totalOf(query, session) : undefined;
  return { matches, included, next, total, numbers };
}

/** Makes rows carry the columns of their numbers. */
const NUMBERED: AlsoWanted = {
  key: 'numbers',
  of: ({ number }) => ({ columns: number ? [number[0][0].column] : [], nodes: [] }),
};

/** Records the numbers of resources as they are written. */
function noting(numbers: Map<string, string>): (resources: readonly Emitted[]) => void {
  return resources => {
    for (const { mapping, id, row, shape } of resources) {
      const [part] = mapping.number?.[0] ?? [];
      const at = part && shape.positions.get(fetchKey(part.column));
      const number = at === undefined ? undefined : part?.codec.print(row[at] ?? null);
      if (number !== undefined) numbers.set(id, number);
    }
  };
}

/** Cache keys of questions. The same questions recur page after page. */
const formOf = memoized((questions: SystemQuery['questions']): QuestionsWithoutIds & { readonly key: string } => {
  const parameterized = withoutIds(questions);
  return { ...parameterized, key: planKey('matches', parameterized.questions) };
});

const NOTHING: Included = { resources: [], cut: false };

/** Writes a page and its includes, which follow the references collected from the page's lists. */
async function writeWithIncludes(
  branches: readonly Branch[],
  request: PageRequest,
  query: SystemQuery,
  { includable, write }: AnswerContext,
  session: Session,
): Promise<WrittenPage & Pick<Answer, 'included'>> {
  const { room } = session;
  for (let { count } = request; ; ) {
    const frontier = frontierOf(query, session);
    const page = await writeInLists(branches, { ...request, count }, write, session, frontier.add);
    const fits = fitting(room);
    const read = (asked: readonly AskedRows[], limit: number) => readRows(asked, limit, fits, query, write, session);
    const included = await readIncluded(frontier, { query, includable, read }, session);
    const { length } = page.matches;
    if (!included.isFull || (room?.isLarge && length <= 1)) return { ...page, included };
    // A page with fewer matches has room for all that they include.
    if (room?.isLarge) count = Math.ceil(length / 2);
    else await room?.enlarge();
  }
}

/** Counts the matches without sort keys, because these split mappings into parts. */
async function totalOf({ questions }: SystemQuery, session: Session): Promise<number> {
  const { questions: unsorted, ids } = withoutIds(questions.map(question => ({ ...question, sort: [] })));
  const plan = (env: Environment) => unsorted.flatMap(question => branchesOf(question, env));
  const asked = { key: planKey('total', unsorted), ids };
  const { planned: branches, placeholders } = await planCached(session, plan, asked);
  return countMatches(branches, session, placeholders);
}

/** More than the branches of any type. */
const ORDINALS = 1e6;

/** Returns the branches of all types, in the order of the questions, because cursors continue by ordinals. */
function branchesOfAll(questions: SystemQuery['questions'], env: Environment): readonly Branch[] {
  return questions.flatMap((question, i) =>
    branchesOf(question, env)
      .map(branch => ({ ...branch, ordinal: i * ORDINALS + branch.ordinal }))
      .toSorted((a, b) => a.ordinal - b.ordinal),
  );
}

/** Reads resources whose rows includes describe as predicates. */
async function readRows(
  asked: readonly AskedRows[],
  limit: number,
  fits: Fits,
  query: SystemQuery,
  context: WriteContext,
  session: Session,
): Promise<ReadRows> {
  const also = wantedForIncludes(query, session);
  const { selection } = query;
  const limits = rowLimits(session);
  const pages = await Promise.all(
    asked.map(one =>
      readPage(
        groupBranches([one], [], session.env),
        { sort: [], selection, count: limit, cursor: undefined, also, ...limits },
        session,
      ),
    ),
  );
  const matches = distinct(pages.flatMap(page => page.matches)).slice(0, limit);
  const emitted = await emitFitting(matches, fits, context, session);
  const isFull = pages.some(page => page.isFull) || emitted.length < matches.length;
  return { resources: onlyResources(emitted), isFull };
}

type Fits = (one: Emitted) => boolean;

/** Returns the bytes of rows that may be read at a time. Without a turn not even one row may have more. */
function rowLimits({ room }: Session): Pick<PageRequest, 'bytes' | 'least'> {
  if (room === undefined) return {};
  return room.isLarge ? { bytes: room.page } : { bytes: room.small, least: 0 };
}

/** Counts resources: returns whether the next one fits into a page. The first always does, up to the largest size. */
function fitting(room: Room | undefined): Fits {
  let bytes = 0;
  return ({ type, json }) => {
    if (room === undefined) return true;
    if (json.length > room.most) throw tooLarge(type);
    if (bytes > 0 && bytes + json.length > room.page) return false;
    bytes += json.length;
    return true;
  };
}

/**
 * Emits matches in order until one does not fit. The text is '' for a row that is no resource. Lets other requests be
 * answered between large parts.
 */
async function emitFitting(
  matches: readonly Match[],
  fits: Fits,
  context: WriteContext,
  session: Session,
): Promise<readonly Emitted[]> {
  const { room } = session;
  if (!room?.isLarge) {
    try {
      return await emitRows(matches, context, session, { fits, children: room?.small });
    } catch (error) {
      if (!(error instanceof TooManyBytes) || room === undefined) throw error;
      await room.enlarge();
    }
  }
  const all: Emitted[] = [];
  for (const part of partsOf(matches, room.small)) {
    const emitted = await emitPart(part, fits, context, session, room);
    for (const one of emitted) all.push(one);
    if (emitted.length < part.length) break;
    await setImmediate();
  }
  return all;
}

/** Emits some matches. Reads the children of fewer if those of all have too many bytes. */
async function emitPart(
  part: readonly Match[],
  fits: Fits,
  context: WriteContext,
  session: Session,
  room: Room,
): Promise<readonly Emitted[]> {
  try {
    return await emitRows(part, context, session, { fits, children: part.length === 1 ? room.most : room.page });
  } catch (error) {
    const [first] = part;
    if (!(error instanceof TooManyBytes) || first === undefined) throw error;
    if (part.length === 1) throw tooLarge(first.mapping.resource);
    const half = Math.ceil(part.length / 2);
    const before = await emitPart(part.slice(0, half), fits, context, session, room);
    if (before.length < half) return before;
    return [...before, ...(await emitPart(part.slice(half), fits, context, session, room))];
  }
}

/** Yields the matches in parts whose rows have about so many bytes. */
function* partsOf(matches: readonly Match[], bytes: number): Generator<readonly Match[]> {
  let begin = 0;
  let sum = 0;
  for (const [at, { row }] of matches.entries()) {
    sum += bytesOf(row);
    if (sum < bytes) continue;
    yield matches.slice(begin, at + 1);
    begin = at + 1;
    sum = 0;
  }
  if (begin < matches.length) yield matches.slice(begin);
}

export interface WrittenPage {
  readonly matches: readonly EntryText[];
  readonly next: Cursor | undefined;
}

/** Rows per list: few statements for the largest page, and some hundred kilobytes of values. */
export const LIST = 250;

/**
 * Writes a page in lists of rows, so that memory and statements stay small on a large page. With sort keys it reads all
 * rows at once, and only their children in lists: each list of rows would cost the database the whole sort again. The
 * page ends early when it has as many bytes as a page may have. `see` is called with all resources.
 */
export async function writeInLists(
  branches: readonly Branch[],
  { list = LIST, ...request }: PageRequest & Pick<AnswerContext, 'list'>,
  context: WriteContext,
  session: Session,
  see: ((resources: readonly Emitted[]) => void) | undefined = undefined,
): Promise<WrittenPage> {
  const { room } = session;
  const matches: EntryText[] = [];
  const fits = fitting(room);
  let bytes = 0;
  /** Returns how many of the matches fitted. */
  const write = async (some: readonly Match[]): Promise<number> => {
    const emitted = await emitFitting(some, fits, context, session);
    const resources = onlyResources(emitted);
    see?.(resources);
    for (const { type, id, json } of resources) {
      matches.push({ type, id, json });
      bytes += json.length;
    }
    return emitted.length;
  };
  if (request.sort.length > 0) {
    let page = await readPage(branches, { ...request, ...rowLimits(session) }, session);
    if (page.isFull && room?.isLarge === false) {
      await room.enlarge();
      page = await readPage(branches, { ...request, bytes: room.page }, session);
    }
    for (let at = 0; at < page.matches.length; at += list) {
      const some = page.matches.slice(at, at + list);
      const written = await write(some);
      if (written < some.length) return { matches, next: cursorAfter(page.matches[at + written - 1], session) };
    }
    return { matches, next: page.next };
  }
  for (let { cursor } = request; ; ) {
    const count = Math.min(list, request.count - matches.length);
    const wasLarge = room?.isLarge === true;
    const page = await readPage(branches, { ...request, count, cursor, ...rowLimits(session) }, session);
    if (page.isFull) await room?.enlarge();
    if (page.isFull && page.matches.length === 0) continue;
    const written = await write(page.matches);
    if (written < page.matches.length)
      return { matches, next: written === 0 ? cursor : cursorAfter(page.matches[written - 1], session) };
    cursor = page.next;
    const isFull = matches.length >= request.count || (page.isFull && wasLarge);
    if (cursor === undefined || isFull) return { matches, next: cursor };
    if (room !== undefined && bytes > room.small) await room.enlarge();
  }
}

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
  /** Number of matches on all pages, if they were counted. */
  readonly total?: number | undefined;
}

const CUT = issueOf('incomplete', 'more resources would be included than one page may hold; the rest was omitted', {
  severity: 'warning',
});

/** Values that links are made from. */
export interface LinkParts {
  readonly base: string;
  readonly cursors: CursorCodec;
  /** Encrypts the parameters of links; without it they stay readable. */
  readonly seal?: ((parameters: AnswerShape['applied']) => string) | undefined;
}

/**
 * Returns the Bundle of an answer, with links to itself, to the first, the previous and the next page. `made`:
 * resources that come before the matches and count as matches.
 */
export function searchsetOf(
  query: AnswerShape,
  found: Answer,
  links: LinkParts,
  made: readonly EntryText[] = [],
): BundleText {
  const { included, next, total } = found;
  const { base, cursors } = links;
  const matches = made.length === 0 ? found.matches : [...made, ...found.matches];
  const all = total === undefined ? undefined : total + made.length;
  const self = linkTo(query, links);
  const linked = (cursor: Cursor): string =>
    `${self}${self.includes('?') ? '&' : '?'}_cursor=${cursors.seal(cursor, query.binding)}`;
  const before = pageBefore(query.cursor);
  const json = searchsetBundle({
    base,
    matches,
    included: included.resources,
    ...(all === undefined ? {} : { total: all }),
    warnings: included.cut ? [...query.warnings, CUT] : query.warnings,
    self,
    ...(query.cursor ? { first: self } : {}),
    ...(before ? { previous: before === 'first' ? self : linked(before) } : {}),
    ...(next ? { next: linked(next) } : {}),
  });
  return { json, entries: matches.length + included.resources.length, total: all };
}

/**
 * Returns a link to the query as it was understood. Commas stay as FHIR writes them: clients split values without
 * decoding them. The values added later, cursors and sealed texts, are base64url.
 */
function linkTo({ place, applied, written }: AnswerShape, { base, seal }: LinkParts): string {
  const asked = seal === undefined || applied.length === 0 ? applied : [[SEALED, seal(applied)] as const];
  const query = [...asked, ...written]
    .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text).replaceAll('%2C', ',')}`)
    .join('&');
  return `${base}${place === '' ? '' : `/${place}`}${query === '' ? '' : `?${query}`}`;
}
