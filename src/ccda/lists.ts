/**
 * Describes the lists that documents are made of: for each list the FHIR type, its dates, its encounter, and the
 * references that a document shows. The pack has the searches behind the lists.
 */
import { contentOf } from './attachment.ts';
import type { CodeableConcept, DocumentReference, Period, Reference, Resource } from './fhir/datatypes.ts';
import type { DiagnosticReport, Observation } from './fhir/measured.ts';
import type { CareTeam, Coverage, Person } from './fhir/people.ts';
import type { CarePlan, Goal, ServiceRequest } from './fhir/planned.ts';
import type {
  AllergyIntolerance,
  Condition,
  Device,
  Encounter,
  Immunization,
  MedicationRequest,
  Procedure,
} from './fhir/record.ts';
import type { Span } from './range.ts';
import { type When, whenOf } from './when.ts';

/** The resource type of each list. */
export interface ListTypes {
  readonly problems: Condition;
  readonly 'past-history': Condition;
  readonly 'health-concerns': Condition;
  readonly 'encounter-diagnoses': Condition;
  readonly medications: MedicationRequest;
  readonly allergies: AllergyIntolerance;
  readonly 'laboratory-reports': DiagnosticReport;
  readonly 'laboratory-results': Observation;
  readonly 'other-reports': DiagnosticReport;
  readonly 'other-results': Observation;
  readonly 'vital-signs': Observation;
  readonly 'smoking-status': Observation;
  readonly 'social-history': Observation;
  readonly assessments: Observation;
  readonly procedures: Procedure;
  readonly immunizations: Immunization;
  readonly devices: Device;
  readonly 'laboratory-orders': ServiceRequest;
  readonly 'other-orders': ServiceRequest;
  readonly 'care-plans': CarePlan;
  readonly goals: Goal;
  readonly 'care-teams': CareTeam;
  readonly 'related-persons': Person;
  readonly encounters: Encounter;
  readonly 'planned-encounters': Encounter;
  readonly coverages: Coverage;
  readonly notes: DocumentReference;
}

export type ListName = keyof ListTypes;

export interface List<T> {
  readonly type: string;
  /** Undefined if it has no dates; it then belongs to every range. */
  span(resource: T): Span | undefined;
  /** Undefined if resources of this kind have no encounter. */
  readonly encounter: ((resource: T) => Reference | undefined) | undefined;
  /**
   * True for lists of continuing records, such as problems and medications: a record belongs to every encounter that it
   * overlaps.
   */
  readonly standing?: true;
  /** True if the record is over; it is listed after the current ones. */
  readonly over?: (resource: T) => boolean;
  /** The search parameter by which a record of the list contains others, as a report contains its results. */
  readonly around?: string;
  /**
   * A search parameter of the dates in `span`. A record that it puts outside of a range is outside by its span, too; a
   * record without these dates may be inside.
   */
  readonly dated?: string;
  /** References to other resources that the document shows. */
  references(resource: T): readonly (Reference | undefined)[];
}

const ENDED: ReadonlySet<string> = new Set([
  ...['inactive', 'remission', 'resolved'],
  ...['completed', 'stopped', 'cancelled', 'revoked', 'rejected'],
]);

const hasEnded = ({
  clinicalStatus,
  status,
}: {
  readonly clinicalStatus?: CodeableConcept;
  readonly status?: string;
}) => clinicalStatus?.coding?.some(({ code }) => ENDED.has(code ?? '')) ?? ENDED.has(status ?? '');

const point = (day: string | undefined): Span => ({ start: day, end: day });

const ofEncounter = (resource: { readonly encounter?: Reference }) => resource.encounter;

/** Returns the start date. Falls back to the day of recording, unless the record gives the onset in words. */
function since(of: When<'onset'> & { readonly recordedDate?: string }): string | undefined {
  const { start, text } = whenOf(of, 'onset');
  return start ?? (text === '' ? of.recordedDate : undefined);
}

const conditions: List<Condition> = {
  type: 'Condition',
  span: condition => ({ start: since(condition), end: whenOf(condition, 'abatement').end }),
  encounter: ofEncounter,
  standing: true,
  over: hasEnded,
  references: ({ recorder }) => [recorder],
};

const observations: List<Observation> = {
  type: 'Observation',
  dated: 'date',
  span: ({ effectiveDateTime, effectivePeriod, issued }) => effectivePeriod ?? point(effectiveDateTime ?? issued),
  encounter: ofEncounter,
  references: ({ performer, specimen }) => [...(performer ?? []), specimen],
};

const reports: List<DiagnosticReport> = {
  type: 'DiagnosticReport',
  around: 'result',
  dated: 'date',
  span: ({ effectiveDateTime, effectivePeriod, issued }) => effectivePeriod ?? point(effectiveDateTime ?? issued),
  encounter: ofEncounter,
  references: ({ performer, presentedForm }) => [...(performer ?? []), ...(presentedForm ?? []).map(contentOf)],
};

/** A request has no end: it lasts from the day it was written, and a later planned date lies within. */
const requests: List<ServiceRequest> = {
  type: 'ServiceRequest',
  span: ({ authoredOn, occurrenceDateTime, occurrencePeriod }) => ({
    start: authoredOn ?? occurrenceDateTime ?? occurrencePeriod?.start,
  }),
  encounter: ofEncounter,
  references: ({ requester, reasonReference }) => [requester, ...(reasonReference ?? [])],
};

const encounters: List<Encounter> = {
  type: 'Encounter',
  dated: 'date',
  // An encounter that is not in progress and has no end ended on the day it began.
  span: ({ period, status }) =>
    status === 'in-progress'
      ? { start: period?.start, end: period?.end }
      : { start: period?.start, end: period?.end ?? period?.start },
  encounter: ({ id }) => ({ reference: `Encounter/${id}` }),
  references: ({ participant, location, serviceProvider, reasonReference }) => [
    ...(reasonReference ?? []),
    ...(participant ?? []).map(({ individual }) => individual),
    ...(location ?? []).map(one => one.location),
    serviceProvider,
  ],
};

export const LISTS: { readonly [N in ListName]: List<ListTypes[N]> } = {
  problems: conditions,
  'past-history': conditions,
  'health-concerns': conditions,
  'encounter-diagnoses': conditions,
  medications: {
    type: 'MedicationRequest',
    span: request => {
      const bounds = takenPeriod(request);
      return { start: bounds.start ?? (isReported(request) ? undefined : request.authoredOn), end: bounds.end };
    },
    encounter: ofEncounter,
    standing: true,
    over: hasEnded,
    references: ({ medicationReference, requester, reportedReference, reasonReference }) => [
      medicationReference,
      requester,
      reportedReference,
      ...(reasonReference ?? []),
    ],
  },
  allergies: {
    type: 'AllergyIntolerance',
    span: allergy => ({ start: since(allergy) }),
    encounter: ofEncounter,
    standing: true,
    over: hasEnded,
    references: ({ recorder }) => [recorder],
  },
  'laboratory-reports': reports,
  'laboratory-results': observations,
  'other-reports': reports,
  'other-results': observations,
  'vital-signs': observations,
  'smoking-status': observations,
  'social-history': observations,
  assessments: observations,
  procedures: {
    type: 'Procedure',
    dated: 'date',
    span: ({ performedDateTime, performedPeriod }) => performedPeriod ?? point(performedDateTime),
    encounter: ofEncounter,
    references: ({ performer, reasonReference }) => [
      ...(performer ?? []).map(({ actor }) => actor),
      ...(reasonReference ?? []),
    ],
  },
  immunizations: {
    type: 'Immunization',
    dated: 'date',
    span: ({ occurrenceDateTime }) => point(occurrenceDateTime),
    encounter: ofEncounter,
    references: ({ performer }) => (performer ?? []).map(({ actor }) => actor),
  },
  // A device has no date of implantation; the section finds its procedure.
  devices: { type: 'Device', span: () => undefined, encounter: undefined, references: () => [] },
  'laboratory-orders': requests,
  'other-orders': requests,
  'care-plans': {
    type: 'CarePlan',
    span: ({ period, created }) => ({ start: period?.start ?? created, end: period?.end }),
    encounter: ofEncounter,
    over: hasEnded,
    references: ({ author, addresses }) => [author, ...(addresses ?? [])],
  },
  goals: {
    type: 'Goal',
    span: ({ startDate, lifecycleStatus, statusDate }) => ({
      start: startDate,
      end: lifecycleStatus === 'completed' || lifecycleStatus === 'cancelled' ? statusDate : undefined,
    }),
    encounter: undefined,
    over: ({ lifecycleStatus }) => ENDED.has(lifecycleStatus ?? ''),
    references: ({ expressedBy }) => [expressedBy],
  },
  // Care team membership does not depend on the document's dates.
  'care-teams': {
    type: 'CareTeam',
    span: () => undefined,
    encounter: ofEncounter,
    standing: true,
    references: ({ participant, managingOrganization }) => [
      ...(participant ?? []).map(({ member }) => member),
      ...(managingOrganization ?? []),
    ],
  },
  'related-persons': { type: 'RelatedPerson', span: () => undefined, encounter: undefined, references: () => [] },
  encounters,
  'planned-encounters': {
    ...encounters,
    span: ({ period }) => ({ start: period?.start, end: period?.end ?? period?.start }),
  },
  coverages: {
    type: 'Coverage',
    span: ({ period }) => ({ start: period?.start, end: period?.end }),
    encounter: undefined,
    over: hasEnded,
    references: ({ payor }) => payor ?? [],
  },
  notes: {
    type: 'DocumentReference',
    dated: 'period',
    // A note has the dates of its visit; without a visit, the day it was written.
    span: ({ date, context }) => {
      const start = context?.period?.start ?? date;
      return { start, end: context?.period?.end ?? start };
    },
    encounter: ({ context }) => context?.encounter?.[0],
    references: ({ author, custodian, content }) => [
      ...(author ?? []),
      custodian,
      ...(content ?? []).map(({ attachment }) => attachment && contentOf(attachment)),
    ],
  },
};

/** True if the status says that a record was never true. Documents show nothing of such a record. */
export function isError(resource: Resource): boolean {
  const { status, lifecycleStatus, verificationStatus } = resource as {
    readonly status?: string;
    readonly lifecycleStatus?: string;
    readonly verificationStatus?: { readonly coding?: readonly { readonly code?: string }[] };
  };
  return (
    status === 'entered-in-error' ||
    lifecycleStatus === 'entered-in-error' ||
    verificationStatus?.coding?.some(({ code }) => code === 'entered-in-error') === true
  );
}

/** True if the patient or somebody else reported it, rather than ordered it. */
export function isReported({ reportedBoolean, reportedReference }: MedicationRequest): boolean {
  return reportedBoolean === true || reportedReference !== undefined;
}

/**
 * Returns when a medication is taken, over all of its dosages: from the earliest start; until the latest end, if each
 * dosage has one.
 */
export function takenPeriod({ dosageInstruction: dosages = [] }: MedicationRequest): Period {
  const bounds = dosages.map(({ timing }) => timing?.repeat?.boundsPeriod);
  const starts = bounds.flatMap(one => one?.start ?? []).toSorted();
  const ends = bounds.flatMap(one => one?.end ?? []).toSorted();
  const [start, end] = [starts[0], ends.length === bounds.length ? ends.at(-1) : undefined];
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}
