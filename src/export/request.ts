/**
 * Parses a kick-off. In: names and values. Out: an ExportRequest, its parts, and what was ignored under lenient
 * handling. Throws FhirError that names the parameter.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
import type { Access } from '../auth/access.ts';
import type { Facade, RequestContext } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import { childrenWithoutStamp } from '../mapping/own-row.ts';
import { FhirError, type Issue, issueOf } from '../outcome.ts';
import { isPermitted } from '../plan/visibility.ts';
import { isSelectable } from '../r4/definitions.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import type { Parameters } from '../search/query.ts';
import { printable } from '../search/values.ts';
import { isTimed, typeQuery } from './filters.ts';
import { type ExportLevel, type ExportRequest, GROUP_TYPE, type Stages } from './job.ts';
import { partsOf, typesWithDeletions } from './parts.ts';
import { ignore, isEmptyWindow, READERS, type Reading, wrong } from './reading.ts';

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
  facade: Pick<Facade, 'registry' | 'parse' | 'visibility'>,
  context: RequestContext,
): UnderstoodRequest {
  const access = exportable(context.access);
  const visibility = facade.visibility(access);
  const reading: Reading = {
    facade,
    context: { ...context, access },
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
  const mustBePermitted = (type: string): void => {
    if (!isPermitted(visibility, type, 'search'))
      throw new FhirError('no-permission', `Your access does not allow you to export ${type} resources`);
  };
  for (const type of [...(reading.types ?? []), ...reading.associated]) mustBePermitted(type);
  if (level.kind === 'group') mustBePermitted(GROUP_TYPE);
  // The answer tells which of the named patients exist and may be seen.
  if (level.kind === 'group' || reading.patients !== undefined) mustBePermitted(COMPARTMENT_TYPE);
  const request = requestOf(
    reading,
    facade.registry.types.filter(type => isPermitted(visibility, type, 'search')),
  );
  // Errors of a filter are reported at once; a type without `_lastUpdated` fails alone, later.
  for (const type of request.types) {
    typeQuery(type, { ...request, since: undefined, until: undefined }, facade.parse, context);
  }
  return {
    request,
    stages: partsOf(request, facade.registry),
    remarks: [
      ...reading.remarks,
      ...withoutStamps(request, facade.parse, context),
      ...unknownDeletions(request, facade.registry),
      ...unseenChildren(request, facade.registry),
    ],
  };
}

/**
 * Reduces a caller's access to the permissions that do not depend on the patient: a job outlives a person's session,
 * and its files are bound to the client. Throws FhirError `no-permission` if none are left.
 */
export function exportable(access: Access): Access {
  if (access.kind === 'all') return access;
  const permissions = access.permissions.filter(({ within, read, search }) => within.length === 0 && read && search);
  if (permissions.length === 0) throw new FhirError('no-permission', 'Exports need system scopes');
  return { ...access, permissions };
}

/** Warns of types whose mappings have no time of change: a window of time contains none of their resources. */
function withoutStamps(request: ExportRequest, parse: Facade['parse'], context: RequestContext): readonly Issue[] {
  if (!isTimed(request)) return [];
  const window = { ...request, typeFilters: [] };
  const isRefused = (type: string): boolean => {
    try {
      typeQuery(type, window, parse, context);
      return false;
    } catch (error) {
      if (error instanceof FhirError) return true;
      throw error;
    }
  };
  const without = request.types.filter(isRefused);
  if (without.length === 0) return [];
  const parameter = request.since === undefined ? '_until' : '_since';
  const diagnostics = `${parameter}: these types will not be exported, since their mappings have no \`changed\`: ${without.join(', ')}`;
  return [issueOf('left-out', diagnostics, { severity: 'warning' })];
}

/** Warns of types whose deletions are unknown. */
function unknownDeletions(request: ExportRequest, registry: Registry): readonly Issue[] {
  if (request.since === undefined) return [];
  const known = typesWithDeletions(request, registry);
  const unknown = request.types.filter(type => !known.includes(type));
  if (unknown.length === 0) return [];
  const diagnostics = `deleted: the mappings do not say which records of these types were deleted: ${unknown.join(', ')}`;
  return [issueOf('left-out', diagnostics, { severity: 'information' })];
}

/** Warns of mappings that miss changes of child rows alone, because their stamp is in another row. */
function unseenChildren({ since, types }: ExportRequest, registry: Registry): readonly Issue[] {
  if (since === undefined) return [];
  const unseen = types
    .flatMap(type => registry.ofType(type))
    .flatMap(mapping => {
      const tables = mapping.changed ? childrenWithoutStamp(mapping) : [];
      return tables.length === 0 ? [] : [`${mapping.name} (${tables.join(', ')})`];
    });
  if (unseen.length === 0) return [];
  const diagnostics = `_since: changes of child rows alone are not seen in these mappings: ${unseen.join('; ')}`;
  return [issueOf('left-out', diagnostics, { severity: 'information' })];
}

/** Returns the request. `all`: the types to export if none is named. */
function requestOf(reading: Reading, all: readonly string[]): ExportRequest {
  const { level, since, until, elements } = reading;
  if (isEmptyWindow(reading)) throw wrong('_until', 'an instant that is not before _since');
  if (reading.types?.length === 0)
    throw new FhirError('unsupported-type', '_type: this server exports none of these types');
  const types = [...(reading.types ?? all)];
  const associated = [...reading.associated].filter(type => !types.includes(type));
  types.push(...associated);
  const typeFilters = reading.typeFilters.filter(({ type }) => {
    if (types.includes(type)) return true;
    ignore(reading, '_typeFilter', 'a search of a type that _type leaves out');
    return false;
  });
  if (elements.some(({ type, name }) => type === undefined && !types.some(one => isSelectable(one, name))))
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
