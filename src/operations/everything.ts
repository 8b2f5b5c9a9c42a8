/**
 * Implements `Patient/<id>/$everything`: the patient, the resources of the patient's compartment, and those that they
 * refer to.
 * https://hl7.org/fhir/R4/patient-operation-everything.html
 */
import { FhirError } from '../outcome.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { parseQuestions } from '../search/parse.ts';
import type { Filter, Include, TypeQuestion } from '../search/query.ts';
import { typesNamed } from '../search/system.ts';
import type { ParseContext } from '../search/values.ts';
import { isBound, narrowed, nothingOfRecords } from './compartment.ts';
import { careFilters, dateOf, splitParameters, unless } from './operation-parameters.ts';
import { input, type Operation, PAGE } from './operations.ts';
import type { AskedOperation, RecordOperation, UnderstoodOperation } from './record-operations.ts';

/** Types that list patients: one patient's record must not reveal the others. Included if `_type` names them. */
const LISTS: ReadonlySet<string> = new Set(['Group']);

const DEFINITION: Operation = {
  id: 'patient-everything',
  code: 'everything',
  title: "A patient's record",
  description:
    'The patient, all resources of the compartment, and what they refer to outside of it, in pages. ' +
    'Groups, which list other patients, only where _type names them.',
  definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  types: [COMPARTMENT_TYPE],
  level: 'instance',
  parameters: [
    input('start', 'date', 'Leaves out care that ended before this date.'),
    input('end', 'date', 'Leaves out care that began after this date.'),
    input('_since', 'instant', 'Leaves out resources that were last changed before this instant.'),
    input('_type', 'code', 'Types with commas between; referenced resources of other types are then omitted.', '*'),
    input('_count', 'integer', 'Resources of the compartment on a page.'),
    PAGE,
  ],
};

export const EVERYTHING: RecordOperation = { ...DEFINITION, understand };

function understand({ id, parameters, types, context }: AskedOperation): UnderstoodOperation {
  if (id === undefined) throw new RangeError('$everything of nobody');
  const { own, shaping, warnings } = splitParameters(DEFINITION, parameters, context);
  const start = dateOf(own, 'start', context);
  const end = dateOf(own, 'end', context);
  const since = dateOf(own, '_since', context);
  const named = own.filter(([name]) => name === '_type');
  const wanted = named.length === 0 ? types.filter(type => !LISTS.has(type)) : typesNamed(named, types);
  // The patient comes first.
  const bound = wanted
    .filter(isBound)
    .toSorted((a, b) => Number(b === COMPARTMENT_TYPE) - Number(a === COMPARTMENT_TYPE));
  // The only types of the compartment that the caller may search are LISTS.
  if (bound.length === 0 && named.length === 0) throw nothingOfRecords();
  if (bound.length === 0)
    throw new FhirError('unsupported-type', '_type: expected a type of the compartment too', { parameter: '_type' });
  const place = `${COMPARTMENT_TYPE}/${id}/$everything`;
  const asked = { types: bound, place, parsed: own, warnings };
  const query = parseQuestions(asked, shaping, context);
  const questions = query.questions.map(question => ({
    ...question,
    filters: [...question.filters, ...filtersOf(question, { start, end, since }, context)],
  }));
  const includes =
    named.length === 0 ? [include(undefined)] : wanted.filter(type => !bound.includes(type)).map(include);
  return {
    query: narrowed({ ...query, questions, includes }, id),
    // A resource that belongs to a patient is already a match, or belongs to another patient.
    includable: type => !isBound(type),
  };
}

function filtersOf(
  { type }: TypeQuestion,
  range: { readonly start: string | undefined; readonly end: string | undefined; readonly since: string | undefined },
  context: ParseContext,
): readonly Filter[] {
  if (type === COMPARTMENT_TYPE) return [];
  const dated = range.since !== undefined && context.offers.find(type, '_lastUpdated') !== undefined;
  return [
    ...careFilters(type, range, context),
    ...(dated ? [unless(type, '_lastUpdated', `lt${range.since}`, context)] : []),
  ];
}

function include(target: string | undefined): Include {
  return { source: '*', parameter: undefined, target, iterate: true };
}
