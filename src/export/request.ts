/**
 * A kick-off's parameters understood. In: names and values. Out: an ExportRequest, its parts, and what was ignored under
 * lenient handling. Throws FhirError naming the parameter. https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
import type { Facade, RequestContext } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import { FhirError, type Issue } from '../outcome.ts';
import { elementsOf } from '../r4/definitions.ts';
import { printable } from '../search/limits.ts';
import { typeQuery } from './filters.ts';
import type { ExportLevel, ExportRequest, Stages } from './job.ts';
import { partsOf, typesWithDeletions } from './parts.ts';
import { ignore, isEmptyWindow, type Parameters, READERS, type Reading, wrong } from './reading.ts';

export interface UnderstoodRequest {
  readonly request: ExportRequest;
  readonly stages: Stages;
  readonly remarks: readonly Issue[];
}

/** Read by the HTTP layer. */
const ELSEWHERE = new Set(['_format', '_pretty']);

export function readExportRequest(
  level: ExportLevel,
  parameters: Parameters,
  facade: Pick<Facade, 'registry' | 'parse'>,
  context: RequestContext,
): UnderstoodRequest {
  // A job outlives the caller's session, and its threads read what they are told to.
  if (context.access.kind !== 'all') throw new FhirError('forbidden', 'Exports need access to all patients');
  const reading: Reading = {
    facade,
    context,
    level,
    remarks: [],
    types: undefined,
    since: undefined,
    until: undefined,
    typeFilters: [],
    elements: [],
    patients: undefined,
    organizedBy: undefined,
    associated: new Set(),
  };
  for (const [name, text] of parameters) {
    if (ELSEWHERE.has(name) || text === '') continue;
    if (Object.hasOwn(READERS, name)) READERS[name]?.(reading, text);
    else ignore(reading, printable(name), 'not a parameter of an export');
  }
  const request = requestOf(reading);
  // What a filter gets wrong is told at once; a type without `_lastUpdated` fails alone, later.
  for (const type of request.types) {
    typeQuery(type, { ...request, since: undefined, until: undefined }, facade.parse, context);
  }
  return {
    request,
    stages: partsOf(request, facade.registry),
    remarks: [...reading.remarks, ...unknownDeletions(request, facade.registry)],
  };
}

/** Types of which nobody can tell what was deleted. */
function unknownDeletions(request: ExportRequest, registry: Registry): readonly Issue[] {
  if (request.since === undefined) return [];
  const known = typesWithDeletions(request, registry);
  const unknown = request.types.filter(type => !known.includes(type));
  if (unknown.length === 0) return [];
  const diagnostics = `deleted: the mappings do not say which records of these types were deleted: ${unknown.join(', ')}`;
  return [{ severity: 'information', code: 'informational', diagnostics }];
}

function requestOf(reading: Reading): ExportRequest {
  const { level, since, until, elements } = reading;
  const { registry } = reading.facade;
  if (isEmptyWindow(reading)) throw wrong('_until', 'an instant that is not before _since');
  if (reading.types?.length === 0) throw new FhirError('not-supported', '_type: none of these types is exported here');
  const types = [...(reading.types ?? registry.types)];
  const associated = [...reading.associated].filter(type => !types.includes(type));
  types.push(...associated);
  const typeFilters = reading.typeFilters.filter(({ type }) => {
    if (types.includes(type)) return true;
    ignore(reading, '_typeFilter', 'a search of a type that _type leaves out');
    return false;
  });
  const named = new Set(types.flatMap(type => elementsOf(type).map(({ name }) => name)));
  if (elements.some(({ type, name }) => type === undefined && !named.has(name)))
    throw wrong('_elements', 'names of elements of the types that are exported');
  return {
    level,
    types,
    associated,
    since,
    until,
    typeFilters,
    elements,
    patients: reading.patients,
    organizedBy: reading.organizedBy,
  };
}
