/**
 * Writes encounters. In: Encounter, and the conditions that were diagnosed in it. Out: Encounter Activity (V3) with its
 * diagnoses, place and people.
 */

import { coded, codeIn, labelOf, readableCode, reference } from '../code.ts';
import { CPT, HCPCS, SNOMED, UB04_STATUS } from '../code-systems.ts';
import type { Location } from '../fhir/people.ts';
import type { Condition, Encounter } from '../fhir/record.ts';
import { identifierElements } from '../ids.ts';
import { headOf } from '../narrative.ts';
import { namesOf, performers } from '../participants.ts';
import { addressElement, telecomElements } from '../people.ts';
import type { SectionWriter } from '../section.ts';
import { interval, readableVisit } from '../time.ts';
import { type Markup, templateIds, textElement, xml } from '../xml.ts';
import { problemObservation, VERIFICATION } from './problem.ts';
import { indication, loincCode, readableReasons, reasonsOf } from './related.ts';

export const ENCOUNTER_COLUMNS = ['Encounter', 'Status', 'Period', 'Place', 'Reason', 'Diagnoses', 'Seen by'];

export function addEncounter(encounter: Encounter, diagnoses: readonly Condition[], content: SectionWriter): void {
  const { type, status, period, participant, hospitalization } = encounter;
  const reasons = reasonsOf(encounter, content.resolve);
  const places = (encounter.location ?? []).map(({ location }) => content.resolve(location) as Location | undefined);
  const people = (participant ?? []).map(({ individual }) => individual);
  const disposition = hospitalization?.dischargeDisposition;
  const row = content.row(
    [labelOf(type?.[0]), encounter.class?.display].filter(Boolean).join(', '),
    [readableCode(status), labelOf(disposition)].filter(Boolean).join(', '),
    readableVisit(encounter),
    places.map(place => place?.name ?? '').join(', '),
    readableReasons(reasons),
    diagnoses.map(readableDiagnosis).join('\n'),
    namesOf(people, content.resolve),
  );
  content.entry(
    xml`
    <encounter classCode="ENC" moodCode="EVN">
      ${templateIds('4.49', '4.49:2015-08-01')}
      ${content.id(encounter)}
      ${coded('code', withClass(encounter), { systems: [CPT, HCPCS, SNOMED], shown: headOf(row) })}
      <text>${reference(row)}</text>
      ${status === 'cancelled' ? xml`<statusCode code="cancelled"/>` : ''}
      ${interval(period?.start, period?.end)}
      ${
        disposition === undefined ? '' : coded('sdtc:dischargeDispositionCode', disposition, { systems: [UB04_STATUS] })
      }
      ${performers(people, content.resolve)}
      ${places.flatMap(place => (place === undefined ? [] : [placeXml(place)]))}
      ${diagnoses.map(one => diagnosis(one, content, row))}
      ${reasons.map((reason, i) => indication(reason, content.id(encounter, `reason-${i}`)))}
    </encounter>`,
  );
}

/** A diagnosis with its verification unless it is confirmed: `Chest pain (refuted)`. */
function readableDiagnosis({ code, verificationStatus }: Condition): string {
  const isConfirmed = codeIn(verificationStatus, VERIFICATION) === 'confirmed';
  const verified = isConfirmed ? '' : labelOf(verificationStatus);
  return verified ? `${labelOf(code)} (${verified})` : labelOf(code);
}

/** Writes the type, with the class (ambulatory, inpatient) as a translation. */
function withClass({ type, class: kind }: Encounter) {
  const [first] = type ?? [];
  return { ...first, coding: [...(first?.coding ?? []), ...(kind === undefined ? [] : [kind])] };
}

function placeXml(place: Location): Markup {
  return xml`
    <participant typeCode="LOC">
      <participantRole classCode="SDLOC">
        ${templateIds('4.32')}
        ${identifierElements(place.identifier)}
        ${coded('code', place.type?.[0], { systems: ['urn:oid:2.16.840.1.113883.6.259'] })}
        ${addressElement(place.address, 'WP')}
        ${telecomElements(place.telecom)}
        <playingEntity classCode="PLC">
          ${textElement('name', place.name).or(xml`<name nullFlavor="UNK"/>`)}
        </playingEntity>
      </participantRole>
    </participant>`;
}

function diagnosis(condition: Condition, content: SectionWriter, row: string): Markup {
  return xml`
    <entryRelationship typeCode="COMP">
      <act classCode="ACT" moodCode="EVN">
        ${templateIds('4.80', '4.80:2015-08-01')}
        ${content.id(condition, 'encounter-diagnosis')}
        ${loincCode({ code: '29308-4', name: 'Diagnosis' })}
        <statusCode code="completed"/>
        <entryRelationship typeCode="SUBJ">
          ${problemObservation(condition, content, row, '-diagnosis')}
        </entryRelationship>
      </act>
    </entryRelationship>`;
}
