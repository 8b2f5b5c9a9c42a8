/**
 * Reads searches in the compartment of a patient: `Patient/<id>/Condition?…`, `Patient/<id>/*?…`. In: path, names and
 * values. Out: a query limited to the compartment.
 * https://hl7.org/fhir/R4/compartmentdefinition.html, https://hl7.org/fhir/R4/http.html#vsearch
 */
import { FhirError } from '../outcome.ts';
import { compartmentCodes } from '../plan/compartment.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { parseQuestions } from '../search/parse.ts';
import type { Filter, Parameters, SystemQuery } from '../search/query.ts';
import { parseSystemSearch } from '../search/system.ts';
import { type ParseContext, printable } from '../search/values.ts';

/** A search in a compartment. */
export interface CompartmentSearch {
  /** The resource type that defines the compartment. */
  readonly compartment: string;
  readonly id: string;
  /** `*`: all types that the compartment has. */
  readonly type: string;
  readonly parameters: Parameters;
}

/** Returns the query. `types`: those that are mapped. Throws FhirError. */
export function compartmentQuery(
  { compartment, id, type, parameters }: CompartmentSearch,
  types: readonly string[],
  context: ParseContext,
): SystemQuery {
  if (compartment !== COMPARTMENT_TYPE || !(type === '*' || types.includes(type)))
    throw new FhirError('unknown-address', 'Nothing is here; [base]/metadata says what this server offers');
  const place = `${compartment}/${id}/${type}`;
  if (type === '*') return narrowed(parseSystemSearch(types.filter(isBound), parameters, context, place), id);
  if (!isBound(type)) throw new FhirError('unsupported-type', `${printable(type)} belongs to no ${compartment}`);
  return narrowed(parseQuestions({ types: [type], place }, parameters, context), id);
}

/** True if resources of the type belong to patients. */
export function isBound(type: string): boolean {
  return type === COMPARTMENT_TYPE || compartmentCodes(type).length > 0;
}

/** Returns the query limited to one patient's compartment. */
export function narrowed(query: SystemQuery, id: string): SystemQuery {
  return withFilters(query, [{ kind: 'compartment', id }]);
}

/** Returns the query with further conditions. */
export function withFilters(query: SystemQuery, more: readonly Filter[]): SystemQuery {
  const questions = query.questions.map(question => ({ ...question, filters: [...question.filters, ...more] }));
  return { ...query, questions };
}

/** Returns the refusal for a caller who may search none of the types. */
export function nothingOfRecords(): FhirError {
  return new FhirError('no-permission', 'Your access does not allow you to search any of these resources');
}
