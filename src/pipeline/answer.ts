/**
 * Answers a search. In: a query over one or several types, and what the caller may see. Out: the resources of one page,
 * their includes, the cursor of the next page, and the total if it is known; or a searchset Bundle of these.
 * https://hl7.org/fhir/R4/http.html#paging
 */

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
import type { AlsoWanted } from './branch-plan.ts';
import { type Emitted, emitAll } from './emitted.ts';
import { frontierOf, wantedForIncludes } from './frontier.ts';
import { type AskedRows, type Included, readIncluded } from './includes.ts';
import { countMatches, distinct, type Match, type PageRequest, readPage } from './page.ts';
import { planCached } from './plans.ts';
import { SEALED } from './sealed-parameters.ts';
import type { Session } from './session.ts';

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
  const request = { sort, selection, count, cursor, also, placeholders };
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
  const frontier = frontierOf(query, session);
  const page = await writeInLists(branches, request, write, session, frontier.add);
  const read = (asked: readonly AskedRows[], limit: number) => readRows(asked, limit, query, write, session);
  return { ...page, included: await readIncluded(frontier, { query, includable, read }, session) };
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
  query: SystemQuery,
  context: WriteContext,
  session: Session,
): Promise<readonly Emitted[]> {
  const also = wantedForIncludes(query, session);
  const { selection } = query;
  const pages = await Promise.all(
    asked.map(one =>
      readPage(
        groupBranches([one], [], session.env),
        { sort: [], selection, count: limit, cursor: undefined, also },
        session,
      ),
    ),
  );
  return emitAll(distinct(pages.flatMap(page => page.matches)).slice(0, limit), context, session);
}

export interface WrittenPage {
  readonly matches: readonly EntryText[];
  readonly next: Cursor | undefined;
}

/** Rows per list: few statements for the largest page, and some hundred kilobytes of values. */
export const LIST = 250;

/**
 * Writes a page in lists of rows, so that memory and statements stay small on a large page. With sort keys it reads all
 * rows at once, and only their children in lists: each list of rows would cost the database the whole sort again. `see`
 * is called with all resources.
 */
export async function writeInLists(
  branches: readonly Branch[],
  request: PageRequest,
  context: WriteContext,
  session: Session,
  see: ((resources: readonly Emitted[]) => void) | undefined = undefined,
): Promise<WrittenPage> {
  const matches: EntryText[] = [];
  const write = async (some: readonly Match[]): Promise<void> => {
    const resources = await emitAll(some, context, session);
    see?.(resources);
    for (const { type, id, json } of resources) matches.push({ type, id, json });
  };
  let { cursor } = request;
  if (request.sort.length > 0) {
    const page = await readPage(branches, request, session);
    for (let at = 0; at < page.matches.length; at += LIST) await write(page.matches.slice(at, at + LIST));
    return { matches, next: page.next };
  }
  do {
    const count = Math.min(LIST, request.count - matches.length);
    const page = await readPage(branches, { ...request, count, cursor }, session);
    await write(page.matches);
    cursor = page.next;
  } while (cursor && matches.length < request.count);
  return { matches, next: cursor };
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
