/**
 * The pipeline, on one screen: query string → typed query → plan → rows → resources → Bundle.
 */
import type { Access } from './auth/access.ts';
import { capabilityStatement } from './capability.ts';
import type { Registry } from './mapping/model.ts';
import { zoneOf } from './mapping/zone.ts';
import { FhirError, type Issue } from './outcome.ts';
import { type ConstantMapping, constantMapping, type OwnResource, passes } from './own/constant-mapping.ts';
import { type Operation, operationDefinition, operationEntry } from './own/operations.ts';
import { emitAll } from './pipeline/emitted.ts';
import { readIncluded, wantedForIncludes } from './pipeline/includes.ts';
import { countMatches, readPage } from './pipeline/page.ts';
import { planResolved } from './pipeline/resolve.ts';
import { shapeStore } from './pipeline/shapes.ts';
import { openSession, type Session } from './pipeline/source.ts';
import { branchesOf, groupBranches } from './plan/branches.ts';
import { ALL_RULES, environment, type Rules } from './plan/environment.ts';
import { makeOffers } from './plan/offers.ts';
import { searchsetBundle } from './resource/bundle.ts';
import type { WriteContext } from './resource/compile.ts';
import { cursorCodec } from './search/cursor.ts';
import type { Offers } from './search/offers.ts';
import { cursorBinding, parseSearch } from './search/parse.ts';
import type { SearchQuery, Selection } from './search/query.ts';
import type { Database } from './sql/database.ts';
import type { SqlPlan } from './sql/plan.ts';

/** How a caller wants resources. */
export interface RequestContext {
  readonly access: Access;
  /** Absolute base of the FHIR interface, without a slash at the end; for fullUrl, links and `as: url` references. */
  readonly base: string;
  /** `Prefer: handling`; what a missing header means is the configuration's choice. */
  readonly handling: 'strict' | 'lenient';
  readonly signal?: AbortSignal;
}

/** A resource as FHIR JSON text. */
export interface ResourceText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /** meta.lastUpdated as emitted, where the mapping has it. */
  readonly lastUpdated?: string;
}

export interface SearchRequest {
  readonly type: string;
  /** Names and values, decoded, in the request's order; a POST body's after the URL's. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
}

export interface Facade {
  readonly registry: Registry;
  readonly offers: Offers;
  /** Undefined: no such resource for this caller (404). Throws FhirError `not-found` for an unknown type. */
  read(
    type: string,
    id: string,
    parameters: SearchRequest['parameters'],
    context: RequestContext,
  ): Promise<ResourceText | undefined>;
  /** Throws FhirError. */
  search(request: SearchRequest, context: RequestContext): Promise<BundleText>;
  /** The typed query of a search, without running it. */
  parse(request: SearchRequest, context: RequestContext): SearchQuery;
  /** The CapabilityStatement that the mappings really offer. */
  capabilities(context: Pick<RequestContext, 'base'>): object;
}

export interface FacadeOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly pageSize: number;
  readonly pageMax: number;
  /** Signs page links; the same on all instances behind one address. */
  readonly secret: Uint8Array;
  readonly softwareVersion: string;
  /** ISO date of the CapabilityStatement. */
  readonly date: string;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly rules?: Rules;
  readonly onQuery?: (plan: SqlPlan) => void;
  /** Resources that the server makes itself; their types are not those of mappings. */
  readonly own?: readonly OwnResource[];
  /** What can be called beside reads and searches; each gets an OperationDefinition. */
  readonly operations?: readonly Operation[];
}

export function createFacade(options: FacadeOptions): Facade {
  const { registry, database, clock = Date.now, rules = ALL_RULES } = options;
  const operations = options.operations ?? [];
  const own = [...(options.own ?? []), ...operations.map(operationDefinition)].map(constantMapping);
  const offers = makeOffers(
    registry,
    own.map(({ mapping }) => mapping),
  );
  const ownTypes = new Set(own.map(({ mapping }) => mapping.resource));
  const zone = zoneOf(registry.pack.zone);
  const shapes = shapeStore();
  const cursors = cursorCodec(options.secret);

  const session = (context: RequestContext, now: number): Session =>
    openSession(database, environment(registry, now, rules), shapes, {
      ...(context.signal ? { signal: context.signal } : {}),
      ...(options.onQuery ? { onQuery: options.onQuery } : {}),
    });

  const parse = (request: SearchRequest, context: RequestContext): SearchQuery =>
    parseSearch(request.type, request.parameters, {
      offers,
      zone,
      cursors,
      handling: context.handling,
      base: context.base,
      caller: context.access.caller,
      pageSize: options.pageSize,
      pageMax: options.pageMax,
    });

  return {
    registry,
    offers,
    parse,

    async read(type, id, parameters, context) {
      const selecting = parameters.filter(([name]) => name === '_elements' || name === '_summary');
      const { selection } = parse({ type, parameters: selecting }, context);
      const now = clock();
      const open = session(context, now);
      const byId = offers.find(type, '_id');
      if (!byId) throw new FhirError('not-found', `this server has no ${type} resources`);
      const token = { kind: 'token', system: undefined, code: id } as const;
      const filters = [{ kind: 'match', parameter: byId.parameter, modifier: undefined, values: [token] }] as const;
      if (ownTypes.has(type)) {
        const found = own.find(one => one.mapping.resource === type && passes(one, filters, open.env));
        return found && { type, id, json: found.json };
      }
      const branches = await planResolved(open, () =>
        branchesOf({ type, filters, sort: [], access: context.access }, open.env),
      );
      const page = await readPage(branches, { sort: [], selection, count: 1, cursor: undefined }, open);
      const [found] = await emitAll(page.matches, { base: context.base, now, zone: registry.pack.zone }, open);
      return found && { type, id, json: found.json, ...(found.lastUpdated ? { lastUpdated: found.lastUpdated } : {}) };
    },

    async search(request, context) {
      const query = parse(request, context);
      const { type, filters, sort, selection, count, cursor } = query;
      const now = cursor?.now ?? clock();
      const open = session(context, now);
      const { access, base } = context;
      if (ownTypes.has(type)) return ownBundle(query, own, open, base);
      const branches = await planResolved(open, () => branchesOf({ type, filters, sort, access }, open.env));
      const also = (mapping: Parameters<typeof wantedForIncludes>[0]) => wantedForIncludes(mapping, query, open);
      const page =
        count === 0
          ? { matches: [], next: undefined }
          : await readPage(branches, { sort, selection, count, cursor, also }, open);
      const matches = await emitAll(page.matches, { base, now, zone: registry.pack.zone }, open);
      const included = await readIncluded(
        matches,
        {
          query,
          access,
          read: async (asked, limit) =>
            readRows(asked, limit, selection, query, open, { base, now, zone: registry.pack.zone }),
        },
        open,
      );
      const complete = cursor === undefined && page.next === undefined && count > 0;
      const total = complete ? matches.length : query.total === 'none' ? undefined : await countMatches(branches, open);
      const warnings: readonly Issue[] = included.cut ? [...query.warnings, CUT] : query.warnings;
      const json = searchsetBundle({
        base,
        matches: matches.map(({ mapping, id, json: text }) => ({ type: mapping.resource, id, json: text })),
        included: included.resources.map(({ mapping, id, json: text }) => ({ type: mapping.resource, id, json: text })),
        ...(total === undefined ? {} : { total }),
        warnings,
        self: link(base, type, query.applied),
        ...(page.next
          ? {
              next: link(base, type, [
                ...query.applied,
                ['_cursor', cursors.seal(page.next, cursorBinding(access.caller, type, query.applied))],
              ]),
            }
          : {}),
      });
      return { json, entries: matches.length + included.resources.length };
    },

    capabilities: ({ base }) =>
      capabilityStatement({
        registry,
        offers,
        ownTypes: [...ownTypes],
        operations: operations.map(operation => operationEntry(operation, base)),
        base,
        date: options.date,
        version: options.softwareVersion,
      }),
  };
}

const CUT: Issue = {
  severity: 'warning',
  code: 'incomplete',
  diagnostics: 'more resources would be included than one page may hold; the rest was left out',
};

/** Resources of rows that are already known as predicates: what includes ask for. */
async function readRows(
  asked: Parameters<typeof groupBranches>[0],
  limit: number,
  selection: Selection,
  query: SearchQuery,
  open: Session,
  context: WriteContext,
) {
  const pages = await Promise.all(
    asked.map(one =>
      readPage(
        groupBranches([one], [], open.env),
        {
          sort: [],
          selection,
          count: limit,
          cursor: undefined,
          also: mapping => wantedForIncludes(mapping, query, open),
        },
        open,
      ),
    ),
  );
  return emitAll(pages.flatMap(page => page.matches).slice(0, limit), context, open);
}

/** All matching resources of the server's own on one page: they are few. */
function ownBundle(query: SearchQuery, own: readonly ConstantMapping[], open: Session, base: string): BundleText {
  const matches = own
    .filter(one => one.mapping.resource === query.type && passes(one, query.filters, open.env))
    .map(({ mapping, json }) => ({ type: query.type, id: mapping.name.slice(mapping.name.indexOf('/') + 1), json }));
  const json = searchsetBundle({
    base,
    matches: query.count === 0 ? [] : matches,
    total: matches.length,
    warnings: query.warnings,
    self: link(base, query.type, query.applied),
  });
  return { json, entries: matches.length };
}

function link(base: string, type: string, parameters: readonly (readonly [string, string])[]): string {
  const query = parameters.map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`).join('&');
  return `${base}/${type}${query === '' ? '' : `?${query}`}`;
}
