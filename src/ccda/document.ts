/**
 * Makes one document. In: a topic, a patient, a range or an encounter. Out: the document as XML or HTML, in pieces. All
 * rows are read before the first piece is sent, so that a failing database never leaves half a document. The whole text
 * is never in memory.
 */
import { createHash } from 'node:crypto';
import type { Facade, RequestContext, Room } from '../facade.ts';
import { encompassingEncounter, readTeam } from './care-team-header.ts';
import { type Chart, openChart } from './chart.ts';
import type { Content } from './content.ts';
import type { Organization, Patient } from './fhir/people.ts';
import type { Encounter } from './fhir/record.ts';
import { type HeaderParts, headerXml, highestConfidentiality, type Software } from './header.ts';
import { rootedSystem, uuidOf } from './ids.ts';
import { LISTS } from './lists.ts';
import type { Pause } from './pause.ts';
import { inRange, readableRange } from './range.ts';
import { buildSection, type EmptyWords, type Section, sectionXml } from './section.ts';
import { STYLESHEET_INSTRUCTION } from './stylesheet.ts';
import { type Days, daysOf, hl7Time, localDay, localTime, readableVisit } from './time.ts';
import type { Topic } from './topics.ts';
import { NOTHING } from './xml.ts';

export interface Source {
  readonly facade: Pick<Facade, 'searchPages' | 'registry' | 'offers' | 'room'>;
  readonly content: Content;
  readonly software: Software;
}

export interface DocumentRequest {
  readonly topic: Topic;
  /** Logical id. */
  readonly patientId: string;
  readonly range: Days | undefined;
  /** Logical id of an encounter of the patient. */
  readonly encounterId: string | undefined;
  /** Context of the caller: the document holds only what the caller may see. */
  readonly context: Omit<RequestContext, 'handling'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Document {
  readonly header: HeaderParts;
  readonly sections: readonly Section[];
  /** Text of empty sections. */
  readonly words: EmptyWords;
  /** The scope of the document (range or encounter), for people. */
  readonly about: string;
  /** Systems of medical record numbers. */
  readonly mrn: readonly string[];
}

/**
 * Makes a document. Undefined if there is no such patient or the patient has no such encounter. Throws FhirError,
 * DatabaseError. A document that is larger than the largest answer is a FhirError `too-large`.
 */
export async function makeDocument(request: DocumentRequest, source: Source): Promise<Document | undefined> {
  const room = source.facade.room(request.context.signal);
  try {
    return await makeWithin(room, request, source);
  } finally {
    room.leave();
  }
}

async function makeWithin(room: Room, request: DocumentRequest, source: Source): Promise<Document | undefined> {
  const { topic, patientId, encounterId, now } = request;
  const { facade, content, software } = source;
  const { pack } = facade.registry;
  const open = (range: Days | undefined): Chart =>
    openChart({
      facade,
      room,
      content,
      context: { ...request.context, handling: 'strict' },
      patientId,
      range,
      encounterId,
    });
  const encounter = encounterId === undefined ? undefined : await encounterOf(open(undefined), encounterId);
  if (encounterId !== undefined && encounter === undefined) return undefined;
  const asked = topic.dated ? request.range : undefined;
  const range = encounter === undefined ? asked : daysOfEncounter(encounter, pack.zone);
  const chart = open(range);
  const patient = await chart.patient();
  if (patient === undefined) return undefined;

  const sections: Section[] = [];
  for (const definition of topic.sections) {
    const section = await buildSection(definition, { chart, patient, namespace: pack.name });
    if (definition.optional !== true || section.table.rows.length > 0) sections.push(section);
  }
  const custodian = await custodianOf(chart, content, patient);
  const time = localTime(now, pack.zone);
  const team = await readTeam(chart, patient, topic.team, time);
  const kind = [pack.name, topic.name, patientId, encounterId ?? '', range?.first ?? '', range?.last ?? ''];
  const words = {
    nothing: 'No information',
    elsewhere:
      encounterId !== undefined
        ? 'Nothing of this encounter; the record has entries of other times'
        : `Nothing ${range === undefined ? '' : inRange(range)}; the record has entries of other days`,
  };
  return {
    sections,
    words,
    about: describe(topic, range, encounter),
    mrn: content.mrn.flatMap(system => rootedSystem(system, pack.oid) ?? []),
    header: {
      templates: topic.templates,
      code: topic.code,
      codeName: topic.codeName,
      title: topic.title,
      id: uuidOf(...kind, await contentKey(sections, patient, chart.pause)),
      setId: uuidOf(...kind),
      version: Math.max(1, Math.floor(chart.seen.changed / 1000)),
      time,
      confidentiality: highestConfidentiality(chart.seen.confidentiality),
      patient,
      software,
      custodian,
      publisher: pack.publisher ?? pack.title,
      ...team,
      service:
        topic.team !== 'none'
          ? servicePeriod(patient, range, localDay(now, pack.zone), chart.seen.earliest)
          : undefined,
      encompassingEncounter: encounter === undefined ? NOTHING : encompassingEncounter(encounter, chart.resolve),
    },
  };
}

/** Yields the document in pieces, in order. */
export function* documentXml({ header, sections, words }: Document): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${STYLESHEET_INSTRUCTION}\n`;
  yield '<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n';
  yield headerXml(header).text;
  yield '<component><structuredBody>\n';
  for (const section of sections) yield* sectionXml(section, words);
  yield '</structuredBody></component>\n</ClinicalDocument>\n';
}

/** Describes the scope of the document (range or encounter) for people. */
function describe(topic: Topic, range: Days | undefined, encounter: Encounter | undefined): string {
  if (encounter !== undefined) return `Encounter ${readableVisit(encounter)}`;
  if (!topic.dated) return 'As known now';
  return range === undefined ? 'All dates' : `What was so ${readableRange(range)}, with what has no date`;
}

/** Returns the encounter if it is the patient's. */
async function encounterOf(chart: Chart, id: string): Promise<Encounter | undefined> {
  const found = await chart.search({
    type: 'Encounter',
    parameters: [
      ['_id', id],
      ['patient', `Patient/${chart.patientId}`],
    ],
  });
  const encounter = found[0] as Encounter | undefined;
  if (encounter !== undefined) await chart.follow(LISTS.encounters.references(encounter));
  return encounter;
}

/** Returns the days of an encounter. Without an end: open if it is in progress, otherwise the day of its start. */
function daysOfEncounter({ period, status }: Encounter, zone: string): Days {
  const first = daysOf(period?.start, zone)?.first;
  const last = daysOf(period?.end, zone)?.last;
  return { first, last: last ?? (status === 'in-progress' ? undefined : daysOf(period?.start, zone)?.last) };
}

/** Returns the custodian: the organization that the pack names, else the patient's own. */
async function custodianOf(chart: Chart, content: Content, patient: Patient): Promise<Organization | undefined> {
  const named = content.custodian === undefined ? [] : await chart.search(content.custodian);
  return (named[0] ?? chart.resolve(patient.managingOrganization)) as Organization | undefined;
}

/** Assumed earliest birth: an earlier start of a range means "from the beginning". */
const OLDEST = '1880-01-01';

/**
 * Returns the period of care that the document covers, as HL7 dates. With a range: its days, as far as the patient
 * lived. Without: from birth, else from the first record, until today. The ends are undefined if the range was over
 * before.
 */
function servicePeriod(
  patient: Patient,
  range: Days | undefined,
  today: string,
  earliest: string | undefined,
): HeaderParts['service'] {
  const asked = range?.first;
  const last = range?.last ?? (asked !== undefined && asked > today ? asked : today);
  const begun = daysOf(patient.birthDate, 'UTC')?.first ?? earliest;
  if (range?.last !== undefined && (begun ?? OLDEST) > last) return { low: undefined, high: undefined };
  const from = begun ?? (asked === undefined ? last : OLDEST);
  const first = asked !== undefined && asked > from ? asked : from;
  return { low: hl7Time(first > last ? last : first), high: hl7Time(last) };
}

/** Returns a hash that changes with any content of the document. */
async function contentKey(sections: readonly Section[], patient: Patient, pause: Pause): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(patient));
  for (const { definition, table, entries } of sections) {
    hash.update(definition.key).update(entries.digest());
    for (const row of table.rows) {
      hash.update(JSON.stringify(row));
      const due = pause();
      if (due) await due;
    }
  }
  return hash.digest('hex');
}
