/**
 * The pipeline, on one screen: query string → typed query → plan → rows → resources → Bundle.
 */
import type { Access } from './auth/access.ts';
import type { Awaitable } from './awaitable.ts';
import { boundedCache } from './cache/bounded.ts';
import { capabilityStatement } from './capability.ts';
import type { Registry } from './mapping/model.ts';
import { type Stages, timed } from './observe/stages.ts';
import { FhirError } from './outcome.ts';
import { type CompartmentSearch, compartmentQuery, narrowed } from './own/compartment.ts';
import { type OwnOptions, ownOf } from './own/offered.ts';
import { operationEntry } from './own/operations.ts';
import type { RecordOperation } from './own/record-operations.ts';
import { type MadeResource, SUMMARY } from './own/summary-operation.ts';
import { answerQuery } from './pipeline/answer.ts';
import { keptCursors } from './pipeline/kept-cursors.ts';
import { pageMappings } from './pipeline/page-mappings.ts';
import { type ResourceText, readById } from './pipeline/read.ts';
import { type BundleText, searchsetOf } from './pipeline/searchset.ts';
import { shapeStore } from './pipeline/shapes.ts';
import { openSession, type Session } from './pipeline/source.ts';
import { ALL_RULES, environment, type Rules } from './plan/environment.ts';
import { COMPARTMENT_TYPE } from './r4/search-parameters.ts';
import type { WriteContext } from './resource/compile.ts';
import { cursorCodec } from './search/cursor.ts';
import type { ParseContext, UnderstoodQuery } from './search/limits.ts';
import type { Offers } from './search/offers.ts';
import { parseSearch, parseTypeSearch } from './search/parse.ts';
import type { Filter, SearchQuery, Selection, SystemQuery } from './search/query.ts';
import { parseSystemSearch } from './search/system.ts';
import type { Database } from './sql/database.ts';
import type { Places, SqlPlan } from './sql/plan.ts';
import { zoneOf } from './time/zone.ts';

/** How a caller wants resources. */
export interface RequestContext {
  readonly access: Access;
  /** Absolute base of the FHIR interface, without a slash at the end; for fullUrl, links and `as: url` references. */
  readonly base: string;
  /** `Prefer: handling`; what a missing header means is the configuration's choice. */
  readonly handling: 'strict' | 'lenient';
  readonly signal?: AbortSignal;
  /** Told of every plan before it is sent. */
  readonly onQuery?: (plan: SqlPlan, places?: Places) => void;
  /** Where the time goes; nobody looks where there is none. */
  readonly stages?: Stages;
}

export type { ResourceText };

export interface SearchRequest {
  readonly type: string;
  /** Names and values, decoded, in the request's order; a POST body's after the URL's. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** What must hold beside them, typed already: for parts of this server, which can ask what no parameter says. */
  readonly filters?: readonly Filter[];
  /** The `number` of each match is wanted beside the Bundle, which has no includes then. */
  readonly numbered?: boolean;
}

export interface Facade {
  readonly registry: Registry;
  readonly offers: Offers;
  /**
   * Undefined: no such resource for this caller (404). Throws FhirError `not-found` for an unknown type. A promise only where the
   * database is waited for.
   */
  read(
    type: string,
    id: string,
    parameters: SearchRequest['parameters'],
    context: RequestContext,
  ): Awaitable<ResourceText | undefined>;
  /** Throws FhirError. */
  search(request: SearchRequest, context: RequestContext): Promise<BundleText>;
  /** A search over several types, which `_type` names; without it over all that there are. Throws FhirError. */
  searchAll(parameters: SearchRequest['parameters'], context: RequestContext): Promise<BundleText>;
  /** A search in the compartment of a patient. Throws FhirError. */
  searchCompartment(asked: CompartmentSearch, context: RequestContext): Promise<BundleText>;
  /** What this server answers beside reads and searches with resources of the record. */
  readonly recordOperations: readonly RecordOperation[];
  /** `id`: of the resource that it is called on, if it is called on one. Throws FhirError. */
  operate(
    operation: RecordOperation,
    id: string | undefined,
    parameters: SearchRequest['parameters'],
    context: RequestContext,
  ): Promise<BundleText>;
  /** The typed query of a search, without running it. */
  parse(request: SearchRequest, context: RequestContext): SearchQuery;
  /** The CapabilityStatement that the mappings really offer. */
  capabilities(context: Pick<RequestContext, 'base'>): object;
}

export interface FacadeOptions extends OwnOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly pageSize: number;
  readonly pageMax: number;
  /** Signs page links; the same on all instances behind one address. */
  readonly secret: Uint8Array;
  readonly softwareVersion: string;
  /** ISO date of the CapabilityStatement. */
  readonly date: string;
  /** What it says of CORS; without it that there is none. */
  readonly cors?: boolean;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly rules?: Rules;
  readonly onQuery?: (plan: SqlPlan, places?: Places) => void;
}

/** Searches whose parameters are not read again while they are kept. */
const QUERIES = 500;

export function createFacade(options: FacadeOptions): Facade {
  const { registry, database, clock = Date.now, rules = ALL_RULES } = options;
  const own = ownOf(registry, options);
  const { offers, operations, recordOperations, served } = own;
  const zone = zoneOf(registry.pack.zone);
  const shapes = shapeStore();
  const cursors = keptCursors(cursorCodec(options.secret));
  const mappingsOf = pageMappings(environment(served, 0, rules));
  const queries = boundedCache<UnderstoodQuery>(QUERIES);

  const session = ({ signal, stages, onQuery }: RequestContext, now: number): Session =>
    openSession(database, environment(served, now, rules), shapes, {
      signal,
      stages,
      onQuery: bothTold(options.onQuery, onQuery),
    });

  const parseContext = (context: RequestContext): ParseContext => ({
    offers,
    zone,
    cursors,
    handling: context.handling,
    base: context.base,
    caller: context.access.caller,
    pageSize: options.pageSize,
    pageMax: options.pageMax,
    remembered: queries.get,
  });
  const parse = (request: SearchRequest, context: RequestContext): SearchQuery =>
    timed(context, 'parse', () => parseSearch(request.type, request.parameters, parseContext(context)));

  const writing = ({ base }: RequestContext, now: number): WriteContext => ({ base, now, zone: registry.pack.zone });

  const selectionOf = (type: string, parameters: SearchRequest['parameters'], context: RequestContext): Selection => {
    const selecting = parameters.filter(([name]) => name === '_elements' || name === '_summary');
    return selecting.length === 0 ? WHOLE : parse({ type, parameters: selecting }, context).selection;
  };

  const read: Facade['read'] = (type, id, parameters, context) => {
    const selection = parameters.length === 0 ? WHOLE : selectionOf(type, parameters, context);
    const now = clock();
    const asked = { type, id, selection, access: context.access };
    return readById(asked, offers, writing(context, now), session(context, now));
  };

  /** `includable`: what may be included, where that is not what may match. */
  const answer = async (
    query: SystemQuery,
    context: RequestContext,
    includable: Access,
    made: readonly MadeResource[] = [],
    numbered?: boolean,
  ): Promise<BundleText> => {
    if (query.cursor && query.cursor.made !== mappingsOf(query.questions)) throw otherMappings();
    const now = query.cursor?.now ?? clock();
    const { access, base } = context;
    const write = writing(context, now);
    const found = await answerQuery(query, { access, includable, write, numbered }, session(context, now));
    const next = found.next && { ...found.next, made: mappingsOf(query.questions) };
    return timed(context, 'write', () => searchsetOf(query, { ...found, next }, base, cursors, made));
  };

  const mustFind = async (type: string, id: string, context: RequestContext): Promise<void> => {
    if (!(await read(type, id, [['_elements', 'id']], context)))
      throw new FhirError('not-found', `No ${type} has this id`);
  };

  return {
    registry,
    offers,
    recordOperations,
    parse,
    read,

    async search(request, context) {
      const { type, parameters, filters, numbered } = request;
      const query = timed(context, 'parse', () => parseTypeSearch(type, parameters, parseContext(context)));
      return answer(filters ? withFilters(query, filters) : query, context, context.access, [], numbered);
    },

    searchAll(parameters, context) {
      const parsing = () => parseSystemSearch(served.types, parameters, parseContext(context));
      return answer(timed(context, 'parse', parsing), context, context.access);
    },

    async operate(operation, id, parameters, context) {
      const { query, access, includable, made } = operation.understand({
        id,
        parameters,
        types: registry.types,
        documents: operations.includes(SUMMARY),
        context: parseContext(context),
        access: context.access,
      });
      if (id !== undefined) await mustFind(operation.types[0] ?? '', id, context);
      const isThere = made && (await read(COMPARTMENT_TYPE, made.patient, [['_elements', 'id']], context));
      return answer(query, { ...context, access }, includable, isThere ? [made.resource] : []);
    },

    async searchCompartment(asked, context) {
      const query = compartmentQuery(asked, registry.types, parseContext(context));
      await mustFind(asked.compartment, asked.id, context);
      return answer(query, { ...context, access: narrowed(context.access, asked.id) }, context.access);
    },

    capabilities: ({ base }) =>
      capabilityStatement({
        registry,
        offers,
        ownTypes: own.types,
        operations: operations.map(operation => operationEntry(operation, base)),
        base,
        cors: options.cors ?? false,
        date: options.date,
        version: options.softwareVersion,
      }),
  };
}

type Told = RequestContext['onQuery'];

function bothTold(one: Told, other: Told): Told {
  if (!one || !other) return one ?? other;
  return (plan, places) => {
    one(plan, places);
    other(plan, places);
  };
}

function otherMappings(): FhirError {
  const diagnostics = 'the mappings have changed since this page link was made; start again from the first page';
  return new FhirError('value', diagnostics, { parameter: '_cursor' });
}

function withFilters(query: SystemQuery, more: readonly Filter[]): SystemQuery {
  const questions = query.questions.map(question => ({ ...question, filters: [...question.filters, ...more] }));
  return { ...query, questions };
}

const WHOLE: Selection = { kind: 'all' };
