/**
 * Offers everything that the server can do as one object. In: the mappings, a database. Out: searches, reads and
 * operations with the rights of a caller: query string → typed query → plan → rows → resources → Bundle.
 */
import { setImmediate } from 'node:timers/promises';
import { type Access, OPEN_ACCESS } from './auth/access.ts';
import { capabilityStatement } from './capability.ts';
import type { Awaitable } from './common/awaitable.ts';
import { boundedCache, memoized } from './common/caches.ts';
import type { Registry } from './mapping/model.ts';
import { type Stages, timed } from './observe/statements.ts';
import {
  type CompartmentSearch,
  compartmentQuery,
  isBound,
  narrowed,
  nothingOfRecords,
  withFilters,
} from './operations/compartment.ts';
import { type OwnOptions, ownOf } from './operations/offered.ts';
import { daysFilters } from './operations/operation-parameters.ts';
import { operationEntry } from './operations/operations.ts';
import type { RecordOperation } from './operations/record-operations.ts';
import { type MadeResource, SUMMARY } from './operations/summary-operation.ts';
import { FhirError, type Issue } from './outcome.ts';
import { type Answer, type AnswerContext, answerQuery, type BundleText, searchsetOf } from './pipeline/answer.ts';
import { cursorCache } from './pipeline/cursor-cache.ts';
import { pageMappings } from './pipeline/page-mappings.ts';
import { type ResourceText, readById } from './pipeline/read.ts';
import { SEALED, sealedParameters } from './pipeline/sealed-parameters.ts';
import { createRooms, openSession, type Room, type Session } from './pipeline/session.ts';
import { shapeStore } from './pipeline/shapes.ts';
import { ALL_RULES, type Environment, environment, type Rules } from './plan/environment.ts';
import {
  type AccessRules,
  type Action,
  FULL_VISIBILITY,
  isPermitted,
  isWhole,
  type Visibility,
} from './plan/visibility.ts';
import { type ParseFilter, visibilityOf } from './plan/visibility-of.ts';
import { COMPARTMENT_TYPE } from './r4/search-parameters.ts';
import type { WriteContext } from './resource/compile.ts';
import { parseExactly, type ResourceData } from './resource/exact.ts';
import { cursorCodec, pagesBefore } from './search/cursor.ts';
import { parseFilter } from './search/filters.ts';
import type { Offers } from './search/offers.ts';
import { parseSearch, parseTypeSearch } from './search/parse.ts';
import { patientsNamed } from './search/patients-named.ts';
import type { Filter, Parameters, SearchQuery, Selection, SystemQuery } from './search/query.ts';
import { parseSystemSearch } from './search/system.ts';
import type { ParseContext, ParsedQuery } from './search/values.ts';
import type { Database } from './sql/database.ts';
import type { PlaceholderValues, SqlPlan } from './sql/plan.ts';
import { zoneOf } from './time/zone.ts';

/** Options of a request. */
export interface RequestContext {
  readonly access: Access;
  /**
   * True to refuse a caller whose scopes leave out some resources of a type by a condition: what is made of the answer
   * would look complete.
   */
  readonly whole?: boolean;
  /** Limits a search to the data of this patient (logical id); data that belongs to no patient is not limited. */
  readonly patient?: string;
  /** Absolute base of the FHIR interface, without a slash at the end; for fullUrl, links and `as: url` references. */
  readonly base: string;
  /** `Prefer: handling`; the configuration decides the value if the header is missing. */
  readonly handling: 'strict' | 'lenient';
  /** True if the parameters came in a body, so that links must not show them. */
  readonly sealed?: boolean;
  readonly signal?: AbortSignal;
  /** Called with every plan before it is sent. */
  readonly onQuery?: (plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => void;
  /** Measures the stages; without it nothing is measured. */
  readonly stages?: Stages;
  /**
   * Returns the types that the caller's scopes name individually; absent if there are no scopes, as on an open server.
   */
  readonly named?: () => readonly string[];
  /** Called with the logical ids of the patients whose data is in the answer, by `seeingPatients` of src/audit. */
  readonly see?: (patients: Iterable<string>) => void;
  /** Called with the logical ids of the patients that a search or an operation names; not by `searchPages`. */
  readonly seeNamed?: (patients: Iterable<string>) => void;
  /** Added to each searchset, before its own warnings. */
  readonly warning?: Issue;
}

export type { Parameters, ResourceText, Room };
export { SEALED };

export interface SearchRequest {
  readonly type: string;
  /** In the request's order; those of a POST body come after the URL's. */
  readonly parameters: Parameters;
  /** Further typed filters, for parts of this server whose conditions no parameter expresses. */
  readonly filters?: readonly Filter[];
}

/** Some matches of a search, in its order. */
export interface FoundPage {
  /** Values of quantities are strings (src/resource/exact.ts). */
  readonly resources: readonly ResourceData[];
  /** The same resources as FHIR JSON. */
  readonly texts: readonly string[];
  /** By logical id, if they were requested and the mappings have a `number`. */
  readonly numbers: ReadonlyMap<string, string>;
  /** True if another page follows. */
  readonly more: boolean;
}

export interface PagesRequest extends SearchRequest {
  /** True to return the `number` of each match too. */
  readonly numbered?: boolean;
  /** Matches of the first page, whatever PAGE_MAX is; each further page has four times as many, up to PAGES_MAX. */
  readonly growing?: number;
  /** Leaves out resources that this date parameter puts outside of the days; those without the date stay. */
  readonly within?: Within;
}

export interface Within {
  /** A search parameter of type date. */
  readonly parameter: string;
  /** Days, `yyyy-MM-dd`. */
  readonly first: string | undefined;
  readonly last: string | undefined;
}

export interface Facade {
  readonly registry: Registry;
  /** When a file of the pack was last changed, as an ISO instant. */
  readonly changed: string;
  readonly offers: Offers;
  /**
   * Reads a resource. Undefined if it does not exist for this caller (404). Throws FhirError `unknown-type`. Returns a
   * promise only if it must wait for the database.
   */
  read(type: string, id: string, parameters: Parameters, context: RequestContext): Awaitable<ResourceText | undefined>;
  /** Runs a search. Throws FhirError. */
  search(request: SearchRequest, context: RequestContext): Promise<BundleText>;
  /**
   * Yields the matches of a search without a Bundle and its links, for parts of this server. A page has `_count`
   * matches and is read when it is taken. Reads no includes and totals. Throws FhirError.
   */
  searchPages(request: PagesRequest, context: RequestContext): AsyncIterable<FoundPage>;
  /** Returns the bounds of an answer that is made of many pages, as as a document. Its turns are not those of pages. */
  room(signal: AbortSignal | undefined): Room;
  /** Searches several types, which `_type` names; without it all types. Throws FhirError. */
  searchAll(parameters: Parameters, context: RequestContext): Promise<BundleText>;
  /** Searches the compartment of a patient. Throws FhirError. */
  searchCompartment(asked: CompartmentSearch, context: RequestContext): Promise<BundleText>;
  /** The operations, besides reads and searches, that return resources of the record. */
  readonly recordOperations: readonly RecordOperation[];
  /** Runs an operation. `id`: that of the resource that it is called on, if any. Throws FhirError. */
  operate(
    operation: RecordOperation,
    id: string | undefined,
    parameters: Parameters,
    context: RequestContext,
  ): Promise<BundleText>;
  /** Returns what a caller may see, in the form for plans. */
  visibility(access: Access): Visibility;
  /** Returns the typed query of a search, without running it. */
  parse(request: SearchRequest, context: RequestContext): SearchQuery;
  /** Returns the parameters behind a link that hides them; unchanged if this server cannot decrypt them. */
  shown(parameters: Parameters, access: Access): Parameters;
  /** Returns the CapabilityStatement of what the mappings really offer. */
  capabilities(context: Pick<RequestContext, 'base'>): object;
}

export interface FacadeOptions extends OwnOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly pageSize: number;
  readonly pageMax: number;
  /** Bytes of the largest resource; a page has at most a quarter. Default: ANSWER_BYTES. */
  readonly answerBytes?: number | undefined;
  /** Signs page links; must be the same on all instances behind one URL. */
  readonly secret: Uint8Array;
  readonly softwareVersion: string;
  /** ISO date of the CapabilityStatement. */
  readonly date: string;
  /** The CapabilityStatement's value for CORS; default: false. */
  readonly cors?: boolean;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly rules?: Rules;
  /** Milliseconds of CPU for one round of planning of a request. Default: PLANNING. */
  readonly planning?: number;
  /** Only tests turn these off. */
  readonly accessRules?: AccessRules;
  readonly onQuery?: (plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => void;
}

/** Milliseconds of CPU: a page of the demo takes 1 to 20, `$everything` 300, 500 dates over all types 2,000. */
const PLANNING = 3000;

/** Limit of cached parsed queries. */
const QUERIES = 500;

/** Default of ANSWER_SIZE. */
const ANSWER_BYTES = 64_000_000;

export function createFacade(options: FacadeOptions): Facade {
  const { registry, database, clock = Date.now, rules = ALL_RULES } = options;
  const own = ownOf(registry, options);
  const { offers, operations, recordOperations, served } = own;
  const zone = zoneOf(registry.pack.zone);
  const shapes = shapeStore();
  const cursors = cursorCache(cursorCodec(options.secret));
  const sealing = sealedParameters(options.secret);
  const mappingsOf = pageMappings(environment(served, 0, FULL_VISIBILITY, rules));
  const queries = boundedCache<ParsedQuery>(QUERIES);
  const rooms = createRooms(options.answerBytes ?? ANSWER_BYTES);
  // Turns of their own: who collects pages keeps its turn while each page waits for one.
  const roomsOfPages = createRooms(options.answerBytes ?? ANSWER_BYTES);

  const parseCondition: ParseFilter = (type, name, value) =>
    parseFilter(type, name, value, parseContext({ access: OPEN_ACCESS, base: NOWHERE, handling: 'strict' }));
  const visibility = memoized(
    (access: Access): Visibility => visibilityOf(access, offers.types, parseCondition, options.accessRules),
  );
  /** Throws if the caller may see nothing of the type: an error says more than an empty answer. */
  const mustBePermitted = (type: string, action: Action, { access, whole = false }: RequestContext): void => {
    if (access.kind === 'all' || !offers.types.includes(type)) return;
    const seen = visibility(access);
    if (whole ? isWhole(seen, type, action) : isPermitted(seen, type, action)) return;
    const all = whole ? 'all ' : '';
    throw new FhirError('no-permission', `Your access does not allow you to ${action} ${all}${type} resources`);
  };

  /** Limits planning for requests, because others wait meanwhile; commands have no signal and no limit. */
  const planningEnvironment = (signal: AbortSignal | undefined, access: Access, now: number): Environment => {
    const env = environment(served, now, visibility(access), rules);
    return signal === undefined ? env : { ...env, budget: { most: options.planning ?? PLANNING, begun: 0 } };
  };
  const session = ({ access, signal, stages, onQuery }: RequestContext, now: number): Session =>
    openSession(database, planningEnvironment(signal, access, now), shapes, {
      signal,
      stages,
      onQuery: callingBoth(options.onQuery, onQuery),
      room: rooms(signal),
    });
  /** Runs the search, and passes on the turn that a large answer has taken. */
  const found = async (query: SystemQuery, how: AnswerContext, own: Session): Promise<Answer> => {
    try {
      return await answerQuery(query, how, own);
    } finally {
      own.room?.leave();
    }
  };

  const parseContext = (context: RequestContext): ParseContext => ({
    offers,
    zone,
    cursors,
    handling: context.handling,
    base: context.base,
    caller: context.access.caller,
    pageSize: options.pageSize,
    pageMax: options.pageMax,
    cached: queries.get,
  });
  const parse = (request: SearchRequest, context: RequestContext): SearchQuery =>
    timed(context, 'parse', () => parseSearch(request.type, request.parameters, parseContext(context)));

  const writing = ({ base }: RequestContext, now: number): WriteContext => ({ base, now, zone: registry.pack.zone });

  const selectionOf = (type: string, parameters: Parameters, context: RequestContext): Selection => {
    const selecting = parameters.filter(([name]) => name === '_elements' || name === '_summary');
    return selecting.length === 0 ? WHOLE : parse({ type, parameters: selecting }, context).selection;
  };

  const readSome: Facade['read'] = (type, id, parameters, context) => {
    const selection = parameters.length === 0 ? WHOLE : selectionOf(type, parameters, context);
    const now = clock();
    const own = session(context, now);
    const made = readById({ type, id, selection }, offers, writing(context, now), own);
    return made instanceof Promise ? made.finally(() => own.room?.leave()) : made;
  };

  const read: Facade['read'] = (type, id, parameters, context) => {
    mustBePermitted(type, 'read', context);
    return readSome(type, id, parameters, context);
  };

  /** Parses a search over one type. Throws if the caller may not search the type. */
  const typeSearch = ({ type, parameters, filters = [] }: SearchRequest, context: RequestContext): SystemQuery => {
    mustBePermitted(type, 'search', context);
    const query = timed(context, 'parse', () => parseTypeSearch(type, parameters, parseContext(context)));
    const { patient } = context;
    const own = patient === undefined || !isBound(type) ? query : narrowed(query, patient);
    return filters.length > 0 ? withFilters(own, filters) : own;
  };

  const answer = async (
    query: SystemQuery,
    context: RequestContext,
    { made = [], ...how }: Pick<AnswerContext, 'includable'> & { readonly made?: readonly MadeResource[] } = {},
  ): Promise<BundleText> => {
    context.seeNamed?.(patientsNamed(query.questions));
    if (query.cursor && query.cursor.made !== mappingsOf(query.questions)) throw otherMappings();
    const now = query.cursor?.now ?? clock();
    const { base } = context;
    const write = writing(context, now);
    const answered = await found(query, { ...how, write }, session(context, now));
    const next = answered.next && {
      ...answered.next,
      made: mappingsOf(query.questions),
      before: pagesBefore(query.cursor),
    };
    const seal = context.sealed
      ? (parameters: Parameters) => sealing.seal(parameters, context.access.caller)
      : undefined;
    const { warning } = context;
    const warned = warning === undefined ? query : { ...query, warnings: [warning, ...query.warnings] };
    return timed(context, 'write', () => searchsetOf(warned, { ...answered, next }, { base, cursors, seal }, made));
  };

  /** Returns the parameters behind a link of a search that came in a body, and a context whose links hide them too. */
  const opened = (parameters: Parameters, context: RequestContext): Opened => {
    if (!parameters.some(([name]) => name === SEALED)) return [parameters, context];
    return [sealing.open(parameters, context.access.caller), { ...context, sealed: true }];
  };

  /** Returns the types that the caller may search. Throws if `_type` names one that they may not. */
  const searchable = (types: readonly string[], parameters: Parameters, context: RequestContext): readonly string[] => {
    if (context.access.kind === 'all') return types;
    for (const [name, text] of parameters)
      if (name === '_type') for (const type of text.split(',')) mustBePermitted(type.trim(), 'search', context);
    const own = types.filter(type => isPermitted(visibility(context.access), type, 'search'));
    if (own.length === 0) throw nothingOfRecords();
    return own;
  };

  const mustFind = async (type: string, id: string, context: RequestContext): Promise<void> => {
    if (!(await read(type, id, [['_elements', 'id']], context)))
      throw new FhirError('no-such-resource', `No ${type} has this id`);
  };

  return {
    registry,
    changed: options.date,
    offers,
    recordOperations,
    parse,
    read,
    visibility,

    shown(parameters, access) {
      try {
        return sealing.open(parameters, access.caller);
      } catch (error) {
        if (error instanceof FhirError) return parameters;
        throw error;
      }
    },

    async search(request, asking) {
      const [parameters, context] = opened(request.parameters, asking);
      return answer(typeSearch({ ...request, parameters }, context), context);
    },

    async *searchPages({ numbered, growing, within, ...request }, context) {
      const dated = within === undefined ? [] : daysFilters(request.type, within, parseContext(context));
      const filters = [...(request.filters ?? []), ...dated];
      const asked = typeSearch({ ...request, filters }, context);
      const query = { ...asked, includes: [], revincludes: [], total: 'none' } as const;
      const now = clock();
      const how = { numbered, write: writing(context, now), list: growing };
      let { count, cursor }: SystemQuery = query;
      if (growing !== undefined) count = growing;
      for (let more = true; more; ) {
        const page = await found(
          { ...query, count, cursor },
          { ...how, list: growing && count },
          session(context, now),
        );
        cursor = page.next;
        more = cursor !== undefined;
        if (growing !== undefined) count = Math.min(4 * count, Math.max(growing, PAGES_MAX));
        const texts = page.matches.map(({ json }) => json);
        yield { resources: await parsed(texts), texts, numbers: page.numbers ?? NO_NUMBERS, more };
      }
    },
    room: roomsOfPages,

    async searchAll(asked, asking) {
      const [parameters, context] = opened(asked, asking);
      const parsing = () =>
        parseSystemSearch(searchable(served.types, parameters, context), parameters, parseContext(context));
      return answer(timed(context, 'parse', parsing), context);
    },

    async operate(operation, id, asked, asking) {
      const [parameters, context] = opened(asked, asking);
      if (id === undefined) for (const type of operation.types) mustBePermitted(type, 'search', context);
      const types = searchable(registry.types, parameters, context);
      if (id !== undefined && !types.some(isBound)) throw nothingOfRecords();
      const { query, includable, made } = operation.understand({
        id,
        parameters,
        types,
        documents: operations.includes(SUMMARY),
        context: parseContext(context),
      });
      if (id !== undefined) await mustFind(operation.types[0] ?? '', id, context);
      const isThere = made && (await readSome(COMPARTMENT_TYPE, made.patient, [['_elements', 'id']], context));
      return answer(query, context, { includable, made: isThere ? [made.resource] : [] });
    },

    async searchCompartment(asked, asking) {
      const [parameters, context] = opened(asked.parameters, asking);
      mustBePermitted(asked.type, 'search', context);
      const types = searchable(registry.types, parameters, context);
      const query = compartmentQuery({ ...asked, parameters }, types, parseContext(context));
      // If the caller may not read the patient, the answer does not reveal whether the patient exists.
      if (isPermitted(visibility(context.access), asked.compartment, 'read'))
        await mustFind(asked.compartment, asked.id, context);
      return answer(query, context);
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

const NO_NUMBERS: FoundPage['numbers'] = new Map();

/** Limit of matches of a growing page. */
const PAGES_MAX = 8000;

/** Characters that are parsed before other requests are answered. */
const PARSED = 1_000_000;

async function parsed(texts: readonly string[]): Promise<readonly ResourceData[]> {
  const resources: ResourceData[] = [];
  let length = 0;
  for (const text of texts) {
    if (length > PARSED) {
      await setImmediate();
      length = 0;
    }
    resources.push(parseExactly(text));
    length += text.length;
  }
  return resources;
}

type Opened = readonly [parameters: Parameters, context: RequestContext];

type OnQuery = RequestContext['onQuery'];

function callingBoth(one: OnQuery, other: OnQuery): OnQuery {
  if (!one || !other) return one ?? other;
  return (plan, placeholders, now) => {
    one(plan, placeholders, now);
    other(plan, placeholders, now);
  };
}

function otherMappings(): FhirError {
  const diagnostics = 'the mappings have changed since this page link was made; start again from the first page';
  return new FhirError('stale-link', diagnostics, { parameter: '_cursor' });
}

/** A base that no URL begins with: conditions of scopes name resources by type and id. */
const NOWHERE = 'urn:none';

const WHOLE: Selection = { kind: 'all' };
