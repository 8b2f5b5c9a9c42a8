/**
 * Reads searches in the compartment of a patient: `Patient/<id>/Condition?…`, `Patient/<id>/*?…`. In: path, names and
 * values. Out: a query that is limited to the compartment.
 * https://hl7.org/fhir/R4/compartmentdefinition.html, https://hl7.org/fhir/R4/http.html#vsearch
 */
import { FhirError } from '../outcome.ts';
import { compartmentCodes } from '../plan/compartment.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { parseQuestions } from '../search/parse.ts';
import type { Filter, Parameters, SystemQuery } from '../search/query.ts';
import { parseSystemSearch } from '../search/system.ts';
import { type ParseContext, printable } from '../search/values.ts';

/** What is asked of a compartment. */
export interface CompartmentSearch {
  /** The type that the compartment is named after. */
  readonly compartment: string;
  readonly id: string;
  /** `*`: all types that the compartment has. */
  readonly type: string;
  readonly parameters: Parameters;
}

/** `types`: those that are mapped. Throws FhirError. */
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

/** Resources of the type belong to patients. */
export function isBound(type: string): boolean {
  return type === COMPARTMENT_TYPE || compartmentCodes(type).length > 0;
}

/** The same query, to one patient's compartment alone. */
export function narrowed(query: SystemQuery, id: string): SystemQuery {
  return withFilters(query, [{ kind: 'compartment', id }]);
}

/** The same query, for which more has to hold. */
export function withFilters(query: SystemQuery, more: readonly Filter[]): SystemQuery {
  const questions = query.questions.map(question => ({ ...question, filters: [...question.filters, ...more] }));
  return { ...query, questions };
}

/** The refusal where the caller may search none of the types. */
export function nothingOfRecords(): FhirError {
  return new FhirError('no-permission', 'Your access does not allow you to search any of these resources');
}
