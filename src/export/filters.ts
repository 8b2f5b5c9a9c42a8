/**
 * What a request means for one type, in terms of the search: filters, alternatives and elements. In: a request. Out:
 * typed filters. Throws FhirError where the type cannot be asked for that.
 */
import type { Facade, RequestContext } from '../facade.ts';
import { elementsOf } from '../r4/definitions.ts';
import type { Filter, Selection } from '../search/query.ts';
import type { ExportRequest } from './job.ts';

export interface TypeQuery {
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** One of these must hold in all; empty: no such condition. */
  readonly alternatives: readonly (readonly Filter[])[];
  readonly selection: Selection;
}

export function typeQuery(
  type: string,
  request: ExportRequest,
  parse: Facade['parse'],
  context: Pick<RequestContext, 'access' | 'base'>,
): TypeQuery {
  const typed = (parameters: readonly (readonly [string, string])[]): readonly Filter[] =>
    parse({ type, parameters }, { ...context, handling: 'strict' }).filters;
  return {
    filters: typed([
      ...(request.since === undefined ? [] : [['_lastUpdated', `ge${request.since}`] as const]),
      ...(request.until === undefined ? [] : [['_lastUpdated', `le${request.until}`] as const]),
    ]),
    alternatives: request.typeFilters.filter(one => one.type === type).map(one => typed(one.parameters)),
    selection: selectionOf(type, request),
  };
}

/** Elements that are named for this type, and of those that are named for all the ones that it has. */
function selectionOf(type: string, { elements }: ExportRequest): Selection {
  const own = new Set(elementsOf(type).map(({ name }) => name));
  const named = elements.filter(element => element.type === undefined || element.type === type);
  if (named.length === 0) return { kind: 'all' };
  return { kind: 'elements', names: named.map(({ name }) => name).filter(name => own.has(name)) };
}
