/**
 * Answers a search. In: a query over one or several types, and what the caller may see. Out: the resources of one
 * page, their includes, the cursor of the next page, and the total if it is known.
 */
import { type Branch, branchesOf, groupBranches, isWithoutRows } from '../plan/branches.ts';
import type { Environment } from '../plan/environment.ts';
import { type QuestionsWithoutIds, withoutIds } from '../plan/id-parameters.ts';
import type { EntryText } from '../resource/bundle.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import type { SystemQuery } from '../search/query.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { AlsoWanted } from './branch-plan.ts';
import { type Emitted, emitAll } from './emitted.ts';
import { frontierOf } from './frontier.ts';
import { wantedForIncludes } from './include-nodes.ts';
import { type AskedRows, type Included, readIncluded } from './includes.ts';
import { countMatches, distinct, type PageRequest, readPage } from './page.ts';
import { type WrittenPage, writeInLists } from './page-lists.ts';
import { planKey } from './plans.ts';
import { planKept } from './resolve.ts';
import type { Session } from './session.ts';

export interface Answer {
  readonly matches: readonly EntryText[];
  readonly included: Included;
  readonly next: Cursor | undefined;
  readonly total: number | undefined;
  /** By logical id of the matches, where they are wanted; of mappings that have a `number`. */
  readonly numbers: ReadonlyMap<string, string> | undefined;
}

export interface AnswerContext {
  /** Types that may be included; undefined: any. */
  readonly includable?: ((type: string) => boolean) | undefined;
  readonly write: WriteContext;
  /** The numbers of what matches are wanted, of a search without includes. */
  readonly numbered?: boolean | undefined;
}

export async function answerQuery(query: SystemQuery, context: AnswerContext, session: Session): Promise<Answer> {
  const { selection, count, cursor } = query;
  const { questions } = query;
  const parameterized = keptForm(questions);
  const plan = (env: Environment) => branchesOfAll(parameterized.questions, env);
  const { planned: branches, placeholders } = await planKept(session, plan, parameterized);
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

/** Rows bring their numbers along. */
const NUMBERED: AlsoWanted = {
  key: 'numbers',
  of: ({ number = [] }) => ({ columns: number.map(({ column }) => column), nodes: [] }),
};

/** Keeps the numbers of resources as they are written. */
function noting(numbers: Map<string, string>): (resources: readonly Emitted[]) => void {
  return resources => {
    for (const { mapping, id, row, shape } of resources) {
      const [part] = mapping.number ?? [];
      const at = part && shape.positions.get(expressionKey(part.column));
      const number = at === undefined ? undefined : part?.codec.print(row[at] ?? null);
      if (number !== undefined) numbers.set(id, number);
    }
  };
}

/** Questions as plans are kept by; the same questions come again, page after page. */
const forms = new WeakMap<SystemQuery['questions'], QuestionsWithoutIds & { readonly key: string }>();

function keptForm(questions: SystemQuery['questions']): QuestionsWithoutIds & { readonly key: string } {
  const known = forms.get(questions);
  if (known) return known;
  const parameterized = withoutIds(questions);
  const form = { ...parameterized, key: planKey('matches', parameterized.questions) };
  forms.set(questions, form);
  return form;
}

const NOTHING: Included = { resources: [], cut: false };

/** Includes go by what the lists of the page have left behind. */
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

/** Counted without the order, which takes mappings apart. */
async function totalOf({ questions }: SystemQuery, session: Session): Promise<number> {
  const { questions: unsorted, ids } = withoutIds(questions.map(question => ({ ...question, sort: [] })));
  const plan = (env: Environment) => unsorted.flatMap(question => branchesOf(question, env));
  const asked = { key: planKey('total', unsorted), ids };
  const { planned: branches, placeholders } = await planKept(session, plan, asked);
  return countMatches(branches, session, placeholders);
}

/** More than the ordinals of the branches of any type. */
const ORDINALS = 1e6;

/** Of all types, in the order of the questions: cursors go by the ordinals. */
function branchesOfAll(questions: SystemQuery['questions'], env: Environment): readonly Branch[] {
  return questions.flatMap((question, i) =>
    branchesOf(question, env)
      .map(branch => ({ ...branch, ordinal: i * ORDINALS + branch.ordinal }))
      .toSorted((a, b) => a.ordinal - b.ordinal),
  );
}

/** Resources of rows that are already known as predicates: what includes ask for. */
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
