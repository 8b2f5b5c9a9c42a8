/**
 * Turns the filters of a kick-off into a search for one type. In: a request. Out: typed filters, alternatives and
 * elements. Throws FhirError if the type cannot be searched by them.
 */
import type { Facade, RequestContext } from '../facade.ts';
import { isSelectable } from '../r4/definitions.ts';
import type { Filter, Parameters, Selection } from '../search/query.ts';
import type { ExportRequest } from './job.ts';

export interface TypeQuery {
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** Lists of filters; all filters of at least one list must hold. Empty: no such condition. */
  readonly alternatives: readonly (readonly Filter[])[];
  readonly selection: Selection;
  /** The resource must be about one of these types; undefined: no such condition. */
  readonly about: readonly string[] | undefined;
}

type TypeContext = Pick<RequestContext, 'access' | 'base'>;

export function typeQuery(
  type: string,
  request: ExportRequest,
  parse: Facade['parse'],
  context: TypeContext,
): TypeQuery {
  const typed = typedBy(type, parse, context);
  return {
    filters: typed(within(request)),
    alternatives: request.typeFilters.filter(one => one.type === type).map(one => typed(one.parameters)),
    selection: selectionOf(type, request),
    about: aboutOf(type, request),
  };
}

/** True if the request has a window of time. */
export function isTimed({ since, until }: ExportRequest): boolean {
  return since !== undefined || until !== undefined;
}

/** Returns the query for resources without a time of change, ignoring the request's window of time. */
export function unstampedQuery(
  type: string,
  request: ExportRequest,
  parse: Facade['parse'],
  context: TypeContext,
): TypeQuery {
  const query = typeQuery(type, { ...request, since: undefined, until: undefined }, parse, context);
  const without = typedBy(type, parse, context)([['_lastUpdated:missing', 'true']]);
  return { ...query, filters: [...query.filters, ...without] };
}

/**
 * Returns the query for deleted records, which have only an id. The request's searches do not narrow it: a resource
 * that once matched may have been deleted after it no longer did.
 */
export function deletionQuery(
  type: string,
  request: ExportRequest,
  parse: Facade['parse'],
  context: TypeContext,
): TypeQuery {
  const filters = typedBy(type, parse, context)(within(request));
  return { filters, alternatives: [], selection: { kind: 'elements', names: [] }, about: aboutOf(type, request) };
}

function aboutOf(type: string, { types, associated }: ExportRequest): TypeQuery['about'] {
  return associated.includes(type) ? types.filter(other => !associated.includes(other)) : undefined;
}

function typedBy(type: string, parse: Facade['parse'], context: TypeContext): (of: Parameters) => readonly Filter[] {
  return parameters => parse({ type, parameters }, { ...context, handling: 'strict' }).filters;
}

function within({ since, until }: ExportRequest): Parameters {
  return [
    ...(since === undefined ? [] : [['_lastUpdated', `ge${since}`] as const]),
    ...(until === undefined ? [] : [['_lastUpdated', `le${until}`] as const]),
  ];
}

/** Selects the elements that are named for this type, and those named for all types that this one has. */
function selectionOf(type: string, { elements }: ExportRequest): Selection {
  const named = elements.filter(element => element.type === undefined || element.type === type);
  if (named.length === 0) return { kind: 'all' };
  return { kind: 'elements', names: named.map(({ name }) => name).filter(name => isSelectable(type, name)) };
}
