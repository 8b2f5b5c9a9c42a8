/**
 * A kick-off's parameters understood. In: names and values. Out: an ExportRequest, its parts, and what was ignored under
 * lenient handling. Throws FhirError naming the parameter. https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
import type { Facade, RequestContext } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import { FhirError, type Issue } from '../outcome.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { printable } from '../search/limits.ts';
import { associatedType } from './associated.ts';
import { typeQuery } from './filters.ts';
import type { ExportLevel, ExportRequest, Stages } from './job.ts';
import { partsOf, typesWithDeletions } from './parts.ts';

export type Parameters = readonly (readonly [name: string, value: string])[];

export interface UnderstoodRequest {
  readonly request: ExportRequest;
  readonly stages: Stages;
  readonly remarks: readonly Issue[];
}

const FORMATS = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;
const ID = /^[A-Za-z0-9.-]{1,64}$/;
/** Patients that one request may name. */
const PATIENTS_AT_MOST = 10_000;

/** Parameters of a search that say nothing about which resources match. */
const RESULT_PARAMETERS = /^_(count|sort|total|summary|elements|include|revinclude|cursor|contained)(:|$)/;

interface Reading {
  readonly facade: Pick<Facade, 'registry' | 'parse'>;
  readonly context: RequestContext;
  readonly level: ExportLevel;
  readonly remarks: Issue[];
  types: string[] | undefined;
  since: string | undefined;
  until: string | undefined;
  readonly typeFilters: { readonly type: string; readonly parameters: Parameters }[];
  readonly elements: { readonly type: string | undefined; readonly name: string }[];
  patients: string[] | undefined;
  organizedBy: string | undefined;
  readonly associated: Set<string>;
}

type Reader = (reading: Reading, text: string) => void;

const READERS: Readonly<Record<string, Reader>> = {
  _outputFormat(_reading, text) {
    if (!FORMATS.has(mediaType(text))) throw wrong('_outputFormat', 'application/fhir+ndjson');
  },
  _type(reading, text) {
    reading.types ??= [];
    for (const type of listed(text)) {
      if (!reading.facade.registry.types.includes(type))
        ignore(reading, '_type', 'a type that this server does not export');
      else if (!reading.types.includes(type)) reading.types.push(type);
    }
  },
  _since(reading, text) {
    reading.since = instant('_since', text);
  },
  _until(reading, text) {
    reading.until = instant('_until', text);
  },
  _typeFilter(reading, text) {
    // Commas stand between searches; one within a search has no `Type?` behind it.
    for (const search of text.split(/,(?=[A-Za-z]+\?)/)) readTypeFilter(reading, search);
  },
  _elements(reading, text) {
    for (const element of listed(text)) {
      const [first = '', second] = element.split('.');
      if (!/^[A-Za-z]+(\.[A-Za-z]+)?$/.test(element)) throw wrong('_elements', 'names of elements');
      reading.elements.push(second === undefined ? { type: undefined, name: first } : { type: first, name: second });
    }
  },
  patient(reading, text) {
    if (reading.level.kind === 'system') {
      ignore(reading, 'patient', 'only of exports of patients or of a group');
      return;
    }
    reading.patients ??= [];
    for (const reference of listed(text)) {
      const id = reference.replace(`${reading.context.base}/`, '').replace(`${COMPARTMENT_TYPE}/`, '');
      if (!ID.test(id)) throw wrong('patient', `references to a ${COMPARTMENT_TYPE} of this server`);
      reading.patients.push(id);
    }
    if (reading.patients.length > PATIENTS_AT_MOST) {
      throw new FhirError('too-costly', `patient: more than ${PATIENTS_AT_MOST} patients in one request`);
    }
  },
  includeAssociatedData(reading, text) {
    for (const code of listed(text)) {
      const type = associatedType(code);
      if (type !== undefined && reading.facade.registry.types.includes(type)) reading.associated.add(type);
      else ignore(reading, 'includeAssociatedData', 'a value that this server has no data for');
    }
  },
  allowPartialManifests(_reading, text) {
    // A server may always send the whole manifest in one piece.
    if (text !== 'true' && text !== 'false') throw wrong('allowPartialManifests', 'true or false');
  },
  organizeOutputBy(reading, text) {
    if (text === COMPARTMENT_TYPE && reading.level.kind !== 'system') reading.organizedBy = text;
    // Not even ignored under lenient handling: who asks for it cannot read files of another order.
    else throw wrong('organizeOutputBy', `${COMPARTMENT_TYPE}, in exports of patients or of a group`);
  },
};

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
  if (reading.types?.length === 0) throw new FhirError('not-supported', '_type: none of these types is exported here');
  const types = [...(reading.types ?? registry.types)];
  const associated = [...reading.associated].filter(type => !types.includes(type));
  types.push(...associated);
  const typeFilters = reading.typeFilters.filter(({ type }) => {
    if (types.includes(type)) return true;
    ignore(reading, '_typeFilter', 'a search of a type that _type leaves out');
    return false;
  });
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

function readTypeFilter(reading: Reading, search: string): void {
  const mark = search.indexOf('?');
  const type = search.slice(0, Math.max(0, mark));
  if (!/^[A-Za-z]+$/.test(type)) throw wrong('_typeFilter', 'searches like Observation?category=laboratory');
  if (!reading.facade.registry.types.includes(type)) {
    ignore(reading, '_typeFilter', 'a search of a type that this server does not export');
    return;
  }
  const all = [...new URLSearchParams(search.slice(mark + 1))];
  const parameters = all.filter(([name]) => {
    if (!RESULT_PARAMETERS.test(name)) return true;
    ignore(reading, '_typeFilter', 'a parameter that says nothing about which resources match');
    return false;
  });
  const { warnings } = reading.facade.parse({ type, parameters }, reading.context);
  const ignored = new Set(warnings.map(({ expression }) => expression));
  reading.remarks.push(...warnings);
  reading.typeFilters.push({
    type,
    parameters: parameters.filter(([name]) => !ignored.has(`http.${printable(name)}`)),
  });
}

/** Strict handling refuses what lenient handling leaves out and says so. */
function ignore({ context, remarks }: Reading, parameter: string, reason: string): void {
  const diagnostics = `${parameter}: ${reason}`;
  if (context.handling === 'strict') throw new FhirError('not-supported', diagnostics, { parameter });
  const expression = `http.${parameter}`;
  remarks.push({
    severity: 'warning',
    code: 'not-supported',
    diagnostics: `${diagnostics}; it was ignored`,
    expression,
  });
}

function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');
}

/** A plus that was not percent-encoded arrives as a blank. */
function mediaType(text: string): string {
  return (text.split(';')[0] ?? '').trim().toLowerCase().replace(' ', '+');
}

function instant(parameter: string, text: string): string {
  const written = text.trim().replace(' ', '+');
  if (!INSTANT.test(written) || Number.isNaN(Date.parse(written))) throw wrong(parameter, 'a FHIR instant');
  return written;
}

function wrong(parameter: string, expected: string): FhirError {
  return new FhirError('value', `parameter ${parameter} expects ${expected}`, { parameter });
}
