/**
 * `DocumentReference/$docref` of US Core: the documents of a patient. Lintel makes none for it; those there are, are found
 * as by a search. https://hl7.org/fhir/us/core/OperationDefinition-docref.html
 */
import { FhirError } from '../outcome.ts';
import { parseFilter } from '../search/filters.ts';
import { parseQuestions, unknownParameter } from '../search/parse.ts';
import type { Filter } from '../search/query.ts';
import { careFilters, dateOf, only, splitParameters } from './operation-parameters.ts';
import { input, type Operation, PAGE } from './operations.ts';
import type { AskedOperation, RecordOperation, UnderstoodOperation } from './record-operations.ts';

const TYPE = 'DocumentReference';

const DEFINITION: Operation = {
  id: 'docref',
  code: 'docref',
  title: "A patient's documents",
  description:
    'References to the documents of a patient, the newest first. No document is made on demand. ' +
    'Without dates, those that are current.',
  definition: 'http://hl7.org/fhir/us/core/OperationDefinition/docref',
  types: [TYPE],
  level: 'type',
  parameters: [
    { ...input('patient', 'id', 'The patient.'), required: true },
    input('start', 'dateTime', 'Leaves out documents of care that ended before.'),
    input('end', 'dateTime', 'Leaves out documents of care that began after.'),
    input('type', 'CodeableConcept', 'The type of the documents, as code or system|code.'),
    input('on-demand', 'boolean', 'true: only documents that are made on demand, of which there are none.'),
    input('profile', 'canonical', 'Not known of the documents that are here, so it is ignored.', '*'),
    PAGE,
  ],
};

export const DOCREF: RecordOperation = { ...DEFINITION, understand };

function understand({ parameters, context, access }: AskedOperation): UnderstoodOperation {
  const { own, shaping, warnings } = splitParameters(DEFINITION, parameters, context);
  const patient = only(own, 'patient');
  if (patient === undefined)
    throw new FhirError('invalid', 'patient: expected the id of a patient', { parameter: 'patient' });
  const start = dateOf(own, 'start', context);
  const end = dateOf(own, 'end', context);
  const type = only(own, 'type');
  const filters: Filter[] = [
    parseFilter(TYPE, 'patient', patient, context),
    ...(type === undefined ? [] : [parseFilter(TYPE, 'type', type, context)]),
    ...careFilters(TYPE, { start, end }, context),
    ...(start === undefined && end === undefined ? [parseFilter(TYPE, 'status', 'current', context)] : []),
  ];
  const ignored = own.some(([name]) => name === 'profile')
    ? [unknownParameter('profile', 'profile is not known of the documents that are here', context)]
    : [];
  const asked = { types: isOnDemand(own) ? [] : [TYPE], place: `${TYPE}/$docref`, understood: own };
  const query = parseQuestions({ ...asked, warnings: [...warnings, ...ignored] }, shaping, context);
  const date = context.offers.find(TYPE, 'date');
  const sort = date?.sortable ? [{ parameter: date.parameter, descending: true }] : [];
  const questions = query.questions.map(question => ({ ...question, filters, sort }));
  return { query: { ...query, questions }, access, includable: access };
}

/** Only documents that are made on demand are asked for. */
function isOnDemand(own: readonly (readonly [string, string])[]): boolean {
  const text = only(own, 'on-demand') ?? 'false';
  if (text !== 'true' && text !== 'false')
    throw new FhirError('value', 'on-demand: expected true or false', { parameter: 'on-demand' });
  return text === 'true';
}
