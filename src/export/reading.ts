/**
 * Parses the parameters of a kick-off. In: a name and a text. Out: the request so far, and what was ignored under
 * lenient handling. Throws FhirError that names the parameter.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
import type { Facade, RequestContext } from '../facade.ts';
import { isLegalId } from '../mapping/id-rule.ts';
import { FhirError, type Issue, issueOf } from '../outcome.ts';
import { isSelectable } from '../r4/definitions.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { dateInterval } from '../search/dates.ts';
import type { Parameters } from '../search/query.ts';
import { printable } from '../search/values.ts';
import { zoneOf } from '../time/zone.ts';
import { associatedType } from './associated.ts';
import type { ExportLevel } from './job.ts';

const FORMATS = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4]):[0-5]\d))?$/;
/** Maximum number of patients in one request. */
const PATIENTS_AT_MOST = 10_000;

/** Search parameters that do not affect which resources match. */
const RESULT_PARAMETERS = /^_(count|sort|total|summary|elements|include|revinclude|cursor|contained)(:|$)/;

/** The request, as far as its parameters have been read. */
export interface Reading {
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

export const READERS: Readonly<Record<string, Reader>> = {
  _outputFormat(_reading, text) {
    if (!FORMATS.has(mediaType(text))) throw wrong('_outputFormat', 'application/fhir+ndjson');
  },
  _type(reading, text) {
    reading.types ??= [];
    for (const type of listed(text)) {
      if (!reading.facade.registry.types.includes(type))
        ignore(reading, '_type', `${printable(type)} is not a type that this server exports`);
      else if (!reading.types.includes(type)) reading.types.push(type);
    }
  },
  _since(reading, text) {
    reading.since = instant('_since', text, reading.since, reading);
  },
  _until(reading, text) {
    reading.until = instant('_until', text, reading.until, reading);
  },
  _typeFilter(reading, text) {
    // Commas separate searches; a comma within a search is not followed by `Type?`.
    for (const search of text.split(/,(?=[A-Za-z]+\?)/)) readTypeFilter(reading, search);
  },
  _elements(reading, text) {
    for (const element of listed(text)) {
      const [first = '', second] = element.split('.');
      if (!/^[A-Za-z]+(\.[A-Za-z]+)?$/.test(element)) throw wrong('_elements', 'names of elements');
      if (second === undefined) reading.elements.push({ type: undefined, name: first });
      else if (!reading.facade.registry.types.includes(first))
        ignore(reading, '_elements', 'an element of a type that this server does not export');
      else if (!isSelectable(first, second)) throw wrong('_elements', `names of elements of ${first}`);
      else reading.elements.push({ type: first, name: second });
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
      if (!isLegalId(id)) throw wrong('patient', `references to a ${COMPARTMENT_TYPE} of this server`);
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
    // A server may always send the whole manifest at once.
    if (text !== 'true' && text !== 'false') throw wrong('allowPartialManifests', 'true or false');
  },
  organizeOutputBy(reading, text) {
    if (text === COMPARTMENT_TYPE && reading.level.kind !== 'system') reading.organizedBy = text;
    // Not ignored even under lenient handling: a client that asks for it cannot read files in another order.
    else throw wrong('organizeOutputBy', `${COMPARTMENT_TYPE}, in exports of patients or of a group`);
  },
};

function readTypeFilter(reading: Reading, search: string): void {
  const mark = search.indexOf('?');
  const type = search.slice(0, Math.max(0, mark));
  if (!/^[A-Za-z]+$/.test(type)) throw wrong('_typeFilter', 'searches like Observation?category=laboratory');
  if (!reading.facade.registry.types.includes(type)) {
    ignore(reading, '_typeFilter', 'a search of a type that this server does not export');
    return;
  }
  if (!isEncoded(search)) throw wrong('_typeFilter', 'searches whose texts are percent-encoded UTF-8');
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

/** True if the text is valid percent-encoding. URLSearchParams would repair another, and search for something else. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Refuses a parameter under strict handling; under lenient handling, omits it with a remark. */
export function ignore({ context, remarks }: Reading, parameter: string, reason: string): void {
  const diagnostics = `${parameter}: ${reason}`;
  if (context.handling === 'strict') throw new FhirError('unknown-parameter', diagnostics, { parameter });
  remarks.push(issueOf('unknown-parameter', `${diagnostics}; it was ignored`, { severity: 'warning', parameter }));
}

function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');
}

/** Returns the media type. A plus sign that was not percent-encoded arrives as a space. */
function mediaType(text: string): string {
  return (text.split(';')[0] ?? '').trim().toLowerCase().replace(' ', '+');
}

/** Parses an instant. Refuses a second one, because it is unclear which is meant. */
function instant(parameter: string, text: string, before: string | undefined, { facade }: Reading): string {
  const written = text.trim().replace(' ', '+');
  const known = INSTANT.test(written) && dateInterval(written, zoneOf(facade.registry.pack.zone)) !== undefined;
  if (!known || before !== undefined) throw wrong(parameter, 'one FHIR instant, like 2024-05-31T08:00:00Z');
  return written;
}

/** True if no time is both at or after `_since` and at or before `_until`; a day as `_until` lasts until its end. */
export function isEmptyWindow({ since, until, facade }: Reading): boolean {
  const zone = zoneOf(facade.registry.pack.zone);
  const [from, to] = [since, until].map(text => (text === undefined ? undefined : dateInterval(text, zone)));
  return from !== undefined && to !== undefined && from.low >= to.high;
}

export function wrong(parameter: string, expected: string): FhirError {
  return new FhirError('wrong-value', `parameter ${parameter} expects ${expected}`, { parameter });
}
