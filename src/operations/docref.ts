/**
 * Implements `DocumentReference/$docref` of US Core: finds the documents of a patient by a search. The first is the
 * Continuity of Care Document, if the server makes it on demand.
 * https://hl7.org/fhir/us/core/OperationDefinition-docref.html
 */
import { FhirError } from '../outcome.ts';
import { parseFilter } from '../search/filters.ts';
import { parseQuestions, unknownParameter } from '../search/parse.ts';
import type { Filter } from '../search/query.ts';
import { careFilters, dateOf, only, splitParameters } from './operation-parameters.ts';
import { input, type Operation, PAGE } from './operations.ts';
import type { AskedOperation, RecordOperation, UnderstoodOperation } from './record-operations.ts';
import { SUMMARY_TYPE, summaryReference } from './summary-operation.ts';

const TYPE = 'DocumentReference';

const DEFINITION: Operation = {
  id: 'docref',
  code: 'docref',
  title: "A patient's documents",
  description:
    'References to the documents of a patient: the Continuity of Care Document, which is made on demand where the server ' +
    'makes documents, then those that are stored, the newest first. Without dates, those that are current.',
  definition: 'http://hl7.org/fhir/us/core/OperationDefinition/docref',
  types: [TYPE],
  level: 'type',
  parameters: [
    { ...input('patient', 'id', 'The patient.'), required: true },
    input('start', 'dateTime', 'Leaves out documents of care that ended before.'),
    input('end', 'dateTime', 'Leaves out documents of care that began after.'),
    input('type', 'CodeableConcept', 'The type of the documents, as code or system|code.'),
    input('on-demand', 'boolean', 'true: only documents that are made on demand.'),
    input('profile', 'canonical', 'Not known of the documents that are here, so it is ignored.', '*'),
    PAGE,
  ],
};

export const DOCREF: RecordOperation = { ...DEFINITION, understand };

function understand({ parameters, context, documents }: AskedOperation): UnderstoodOperation {
  const { own, shaping, warnings } = splitParameters(DEFINITION, parameters, context);
  const patient = only(own, 'patient');
  if (patient === undefined)
    throw new FhirError('wrong-parameters', 'patient: expected the id of a patient', { parameter: 'patient' });
  const start = dateOf(own, 'start', context);
  const end = dateOf(own, 'end', context);
  const type = only(own, 'type');
  const ofPatient = parseFilter(TYPE, 'patient', patient, context);
  const ofType = type === undefined ? undefined : parseFilter(TYPE, 'type', type, context);
  const filters: Filter[] = [
    ofPatient,
    ...(ofType ? [ofType] : []),
    ...careFilters(TYPE, { start, end }, context),
    ...(start === undefined && end === undefined ? [parseFilter(TYPE, 'status', 'current', context)] : []),
  ];
  const ignored = own.some(([name]) => name === 'profile')
    ? [unknownParameter('profile', 'profile is not known of the documents that are here', context)]
    : [];
  const asked = { types: isOnDemand(own) ? [] : [TYPE], place: `${TYPE}/$docref`, parsed: own };
  const query = parseQuestions({ ...asked, warnings: [...warnings, ...ignored] }, shaping, context);
  const date = context.offers.find(TYPE, 'date');
  const sort = date?.sortable ? [{ parameter: date.parameter, descending: true }] : [];
  const questions = query.questions.map(question => ({ ...question, filters, sort }));
  const id = documents && query.cursor === undefined && isSummary(ofType) ? onlyId(ofPatient) : undefined;
  const made =
    id === undefined ? undefined : { patient: id, resource: summaryReference(context.base, id, { start, end }) };
  return { query: { ...query, questions }, made };
}

/** True if the Continuity of Care Document has the requested type; always true without a type. */
function isSummary(type: Filter | undefined): boolean {
  if (type?.kind !== 'match') return true;
  return type.values.some(
    value =>
      value.kind === 'token' &&
      (value.code ?? SUMMARY_TYPE.code) === SUMMARY_TYPE.code &&
      (value.system ?? SUMMARY_TYPE.system) === SUMMARY_TYPE.system,
  );
}

function onlyId(patient: Filter): string | undefined {
  const [value, ...more] = patient.kind === 'match' ? patient.values : [];
  return value?.kind === 'reference' && more.length === 0 ? value.id : undefined;
}

/** True if only documents made on demand are requested. */
function isOnDemand(own: readonly (readonly [string, string])[]): boolean {
  const text = only(own, 'on-demand') ?? 'false';
  if (text !== 'true' && text !== 'false')
    throw new FhirError('wrong-value', 'on-demand: expected true or false', { parameter: 'on-demand' });
  return text === 'true';
}
