/**
 * Answers the questions of the view *Search*: the types and parameters to search by, and one search with its Bundle,
 * its SQL, the engine's plan and the indexes that it lacks. A search ends after some seconds, or when the page cancels
 * it.
 */
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { OPEN_CONTEXT } from '../../../auth/access.ts';
import { queryLines } from '../../../explain/query-text.ts';
import { type ExplainedStatement, type Explanation, explainSearch } from '../../../explain/search.ts';
import { parameterLines, sqlLines } from '../../../explain/sql-text.ts';
import type { SearchRequest } from '../../../facade.ts';
import { writtenSearch } from '../../../http/written-search.ts';
import { FhirError } from '../../../outcome.ts';
import { NO_WORDS } from '../../../plan/index-use.ts';
import { makeOffers } from '../../../plan/offers.ts';
import { DatabaseError, within } from '../../../sql/database.ts';
import { engineNamed } from '../../../sql/engines.ts';
import { adviceFor, computedIn, effectsOf, TRIED } from '../../index-advice.ts';
import { type WantedIndex, wantedIndexes } from '../../indexes.ts';
import { rowOf } from '../../rows-to-show.ts';
import type { Unsaved } from '../../wire/mapping.ts';
import type {
  WireAdvice,
  WireParameter,
  WireParameters,
  WireRow,
  WireSearch,
  WireSearchStatement,
  WireTypes,
} from '../../wire/search.ts';
import type { Searched } from '../../wire/search-text.ts';
import type { Desk, Served } from '../desk.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';

/** Time limit in milliseconds of a search. */
const MILLISECONDS = 10_000;
/** Characters per line of SQL. */
const WIDTH = 90;
/** Maximum number of mappings for which missing indexes are determined, because more would take too long. */
const MAPPINGS = 300;
/** Maximum number of characters of a search. */
const LONGEST = 20_000;
const TOO_LARGE = `The pack has more than ${MAPPINGS} mappings: only lintel indexes determines missing indexes`;
const NO_PACK = 'The pack has had errors since the workbench started: nothing can be searched';

/** Returns the mappings of the current texts, or the last ones without errors. Throws Refusal if there are none. */
async function servedBy(desk: Desk, texts: Unsaved): Promise<Served> {
  const served = await desk.served(texts);
  if (!served) throw new Refusal(409, NO_PACK);
  return served;
}

export const SEARCH_QUESTIONS: readonly Question[] = [
  question('search/types', { unsaved }, async (asked, { desk }) => {
    const served = await servedBy(desk, asked.unsaved);
    return { types: served.facade.offers.types.toSorted(), stale: served.stale } satisfies WireTypes;
  }),
  // One type per request: each parameter is tried out, which blocks other requests meanwhile.
  question('search/parameters', { unsaved, type: z.string() }, async (asked, { desk }) => {
    const served = await servedBy(desk, asked.unsaved);
    return { parameters: parametersOf(asked.type, served) } satisfies WireParameters;
  }),
  question('search/row', { unsaved, type: z.string(), id: z.string() }, async (asked, { desk, signal }) => {
    const { registry, facade } = await servedBy(desk, asked.unsaved);
    const row = await rowOf(asked.type, asked.id, {
      ...{ registry, facade, signal, database: desk.database, now: Date.now() },
    });
    if (!row) throw new Refusal(404, `No row of the database makes this ${asked.type}`);
    return row satisfies WireRow;
  }),
  question('search', { unsaved, query: z.string().max(LONGEST) }, async (asked, { desk, signal }) => {
    const served = await servedBy(desk, asked.unsaved);
    const { facade, stale } = served;
    const isLarge = facade.registry.mappings.length > MAPPINGS;
    try {
      const request = writtenSearch(asked.query);
      const now = Date.now();
      const advice: WantedIndex[] = [];
      const explained = await explainSearch(facade, desk.database, request, {
        // Lenient handling would ignore unknown parameters and so answer another search.
        ...{ now, handling: OPEN_CONTEXT.handling },
        indexes: query => {
          if (isLarge) return advice;
          const read = facade.registry.ofType(query.type);
          advice.push(...adviceFor(wantedIndexes(served.registry, served.catalog), query, read).slice(0, TRIED));
          return advice;
        },
      });
      const { query, mappings, statements } = explained;
      return {
        ...(await bundleOf(request, served, signal)),
        issues: [
          ...query.warnings.map(({ diagnostics }) => ({ severity: 'warning' as const, text: diagnostics })),
          ...(isLarge ? [{ severity: 'warning' as const, text: TOO_LARGE }] : []),
        ],
        query: queryLines(query, true),
        mappings: mappings.filter(({ read }) => read).map(({ name }) => name),
        engine: engineNamed(desk.database.engine).title,
        statements: statements.map(one => statementOf(one, desk.database.engine)),
        advice: advice.map(one => adviceOf(one, explained)),
        isAdvised: !isLarge,
        scans: query.filters.length === 0 ? [] : scansIn(explained, desk.database.engine),
        words: [...new Set(statements.flatMap(({ served }) => served.filter(line => line.startsWith(NO_WORDS))))],
        computed: computedIn(query, makeOffers(served.registry)),
        stale,
      } satisfies WireSearch;
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      const issues = error.issues.map(({ severity, diagnostics }) => ({
        severity: severity === 'warning' || severity === 'information' ? ('warning' as const) : ('error' as const),
        text: diagnostics,
      }));
      return {
        ...{ issues, bundle: undefined, milliseconds: 0, failed: undefined, query: [], mappings: [], stale },
        ...{ engine: engineNamed(desk.database.engine).title, statements: [], advice: [], words: [], computed: [] },
        ...{ isAdvised: !isLarge, scans: [] },
      } satisfies WireSearch;
    }
  }),
];

function parametersOf(type: string, { facade }: Served): readonly WireParameter[] {
  return facade.offers.of(type).map(({ parameter, modifiers, targets, sortable }) => ({
    ...{ code: parameter.code, type: parameter.type, modifiers: [...modifiers], targets, sortable },
  }));
}

/**
 * Returns what can be searched; if the pack has errors, with the file at `path`, access.yaml or ccds.yaml, taken as one
 * without rules or lists. Nothing if there are errors elsewhere and always were.
 */
export async function searchedIn(desk: Desk, texts: Unsaved, path: string): Promise<Searched> {
  const served = (await desk.served(texts)) ?? (await desk.served({ ...texts, [path]: '{}' }));
  if (!served) return { types: [], parameters: () => [] };
  return { types: served.facade.offers.types, parameters: type => parametersOf(type, served) };
}

async function bundleOf(
  request: SearchRequest,
  { facade }: Served,
  signal: AbortSignal,
): Promise<Pick<WireSearch, 'bundle' | 'milliseconds' | 'failed'>> {
  const begun = performance.now();
  const time = (): number => Math.round(performance.now() - begun);
  try {
    const { json } = await facade.search(request, { ...OPEN_CONTEXT, signal: within(MILLISECONDS, signal) });
    return { milliseconds: time(), bundle: JSON.parse(json), failed: undefined };
  } catch (error) {
    if (!(error instanceof DatabaseError) || signal.aborted) throw error;
    const isOver = error.reason === 'cancelled' || time() >= MILLISECONDS;
    const failed = isOver
      ? `It was stopped after ${MILLISECONDS / 1000} s`
      : `The database did not answer: ${error.publicText ?? error.words ?? error.message}`;
    return { milliseconds: time(), bundle: undefined, failed };
  }
}

function statementOf({ purpose, mappings, rendered, served }: ExplainedStatement, engine: string): WireSearchStatement {
  const own = rendered.find(one => one.engine === engine);
  return {
    ...{ purpose, mappings, served },
    sql: own ? sqlLines(own, WIDTH) : [],
    parameters: own ? parameterLines(engine, own.parameters, true) : [],
  };
}

function scansIn({ statements }: Explanation, name: string): readonly string[] {
  const engine = engineNamed(name);
  return [
    ...new Set(statements.flatMap(({ served }) => served.filter(line => engine.isScan(line)).map(line => line.trim()))),
  ];
}

function adviceOf(index: WantedIndex, explained: Explanation): WireAdvice {
  const { name, table, statement, serves, instead } = index;
  return { name, table, statement, serves, instead, effects: effectsOf(index, explained) };
}
