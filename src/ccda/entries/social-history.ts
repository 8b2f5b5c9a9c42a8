/**
 * Writes social history. In: Observation, and the sex of the Patient. Out: Smoking Status (V2), Social History
 * Observation (V3), Assessment Scale Observation, Birth Sex. A smoking status without a code of C-CDA is in the
 * narrative only.
 */

import { coded, codeIn, isCoded, labelOf, reference, TYPE_CD } from '../code.ts';
import { LOINC, SNOMED } from '../code-systems.ts';
import type { Observation } from '../fhir/measured.ts';
import type { Patient } from '../fhir/people.ts';
import { headOf, secondOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { hl7Time, moment, readableTime } from '../time.ts';
import { readableValue, valueElement } from '../value.ts';
import { whenOf } from '../when.ts';
import { type Markup, templateIds, xml } from '../xml.ts';
import { loincCode } from './related.ts';

export const SOCIAL_COLUMNS = ['Item', 'Answer', 'When', 'By'];

const SMOKING_STATUS = '72166-2';

/** The value set Smoking Status; its last code means "unknown". */
const SMOKING: ReadonlySet<string> = new Set([
  '449868002',
  '428041000124106',
  '8517006',
  '266919005',
  '77176002',
  '428071000124103',
  '428061000124105',
  '266927001',
]);

/** Adds an observation; also for surveys, with the `template` of their kind. */
export function addSocialHistory(observation: Observation, content: SectionWriter): void {
  const { code, performer } = observation;
  const parts = (observation.component ?? []).map(one => `${labelOf(one.code)}: ${readableValue(one)}`);
  const row = content.row(
    labelOf(code),
    [readableValue(observation), ...parts].filter(Boolean).join('\n'),
    whenOf(observation, 'effective').text,
    nameOf(performer?.[0], content.resolve),
  );
  if (codeIn(code, LOINC) === SMOKING_STATUS) {
    addSmokingStatus(observation, row, content);
    return;
  }
  content.entry(
    xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.38', '4.38:2015-08-01')}
      ${body(observation, row, content)}
    </observation>`,
  );
}

function addSmokingStatus(observation: Observation, row: string, content: SectionWriter): void {
  const { valueCodeableConcept, effectiveDateTime, effectivePeriod, performer } = observation;
  const known = valueCodeableConcept?.coding?.some(({ system, code = '' }) => system === SNOMED && SMOKING.has(code));
  const time = hl7Time(effectiveDateTime ?? effectivePeriod?.start);
  content.entry(
    xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.78', '4.78:2014-06-09')}
      ${content.id(observation)}
      ${loincCode({ code: '72166-2', name: 'Tobacco smoking status NHIS' })}
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${time === undefined ? xml`<effectiveTime nullFlavor="UNK"/>` : xml`<effectiveTime value="${time}"/>`}
      ${
        known === true
          ? coded('value', valueCodeableConcept, {
              systems: [SNOMED],
              only: SMOKING,
              attributes: TYPE_CD,
              shown: secondOf(row),
            })
          : unknownSmoker(row)
      }
      ${author(performer?.[0], effectiveDateTime, content.resolve)}
      ${content.remarks(row, observation)}
    </observation>`,
  );
}

/** Writes "status unknown": the answer has no code in the value set, which does not allow a nullFlavor. */
function unknownSmoker(row: string): Markup {
  return xml`
    <value xsi:type="CD" code="266927001" displayName="Tobacco smoking consumption unknown" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT">
      <originalText>${reference(secondOf(row))}</originalText>
    </value>`;
}

/** Adds questionnaires: each panel with its answers. An answer without a panel is an entry of its own. */
export function addAssessmentScales(observations: readonly Observation[], content: SectionWriter): void {
  const rest = new Map(observations.map(one => [`Observation/${one.id}`, one]));
  for (const panel of observations.filter(({ hasMember }) => hasMember !== undefined)) {
    rest.delete(`Observation/${panel.id}`);
    const row = scaleRow(panel, content);
    const answers = (panel.hasMember ?? []).flatMap(({ reference: at = '' }) => {
      const answer = rest.get(at);
      // An answer within a panel must have a LOINC or SNOMED CT code.
      if (answer === undefined || !isCoded(answer.code, [LOINC, SNOMED])) return [];
      rest.delete(at);
      return [supporting(answer, content)];
    });
    content.entry(scale(panel, row, answers, content));
  }
  for (const answer of rest.values()) content.entry(scale(answer, scaleRow(answer, content), [], content));
}

function scaleRow(observation: Observation, content: SectionWriter): string {
  return content.row(
    labelOf(observation.code),
    readableValue(observation),
    readableTime(observation.effectiveDateTime),
    nameOf(observation.performer?.[0], content.resolve),
  );
}

function scale(observation: Observation, row: string, answers: readonly Markup[], content: SectionWriter): Markup {
  return xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.69')}
      ${body(observation, row, content)}
      ${answers}
    </observation>`;
}

function supporting(answer: Observation, content: SectionWriter): Markup {
  const row = scaleRow(answer, content);
  return xml`
    <entryRelationship typeCode="COMP">
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds('4.86')}
        ${content.id(answer)}
        ${coded('code', answer.code, { systems: [LOINC, SNOMED], shown: headOf(row) })}
        <text>${reference(row)}</text>
        <statusCode code="completed"/>
        ${valueElement(answer, { systems: [SNOMED, LOINC], shown: secondOf(row) })}
        ${content.remarks(row, answer)}
      </observation>
    </entryRelationship>`;
}

function body(observation: Observation, row: string, content: SectionWriter): Markup {
  const { code, effectiveDateTime, effectivePeriod, performer } = observation;
  return xml`
    ${content.id(observation)}
    ${coded('code', code, { systems: [LOINC], shown: headOf(row), translated: true })}
    <text>${reference(row)}</text>
    <statusCode code="completed"/>
    ${moment(effectiveDateTime, effectivePeriod)}
    ${valueElement(observation, { systems: [SNOMED, LOINC], shown: secondOf(row) })}
    ${author(performer?.[0], effectiveDateTime, content.resolve)}
    ${content.remarks(row, observation)}`;
}

const SEXES: Readonly<Record<string, string>> = { F: 'Female', M: 'Male' };

/** Writes the sex that was registered at birth. */
export function addBirthSex(patient: Patient, content: SectionWriter): void {
  const sex = patient.extension?.find(({ url }) => url.endsWith('/us-core-birthsex'))?.valueCode;
  const name = SEXES[sex ?? ''];
  if (sex === undefined) return;
  const row = content.row('Sex assigned at birth', name ?? 'Unknown', '', '');
  content.entry(
    xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.200:2016-06-01')}
      ${content.id(patient, 'birth-sex')}
      ${loincCode({ code: '76689-9', name: 'Sex Assigned At Birth' })}
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${
        name === undefined
          ? xml`<value xsi:type="CD" nullFlavor="UNK"/>`
          : xml`
    <value xsi:type="CD" code="${sex}" displayName="${name}" codeSystem="2.16.840.1.113883.5.1" codeSystemName="AdministrativeGender"/>`
      }
    </observation>`,
  );
}

/** Adds narrative rows for personal details that the header of a document cannot hold. */
export function addPersonalRows(patient: Patient, content: SectionWriter): void {
  const extension = (name: string) => patient.extension?.find(({ url }) => url.endsWith(`/${name}`));
  const text = (name: string) => extension(name)?.extension?.find(({ url }) => url === 'text')?.valueString;
  const tribe = extension('us-core-tribal-affiliation')?.extension?.[0]?.valueCodeableConcept;
  const language = patient.communication?.[0]?.language;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Gender identity', labelOf(extension('us-core-genderIdentity')?.valueCodeableConcept)],
    ['Race', text('us-core-race')],
    ['Ethnicity', text('us-core-ethnicity')],
    ['Tribal affiliation', labelOf(tribe)],
    ['Preferred language', labelOf(language)],
    ['Marital status', labelOf(patient.maritalStatus)],
  ];
  for (const [item, answer] of rows) {
    if (answer !== undefined && answer !== '') content.row(item, answer, '', '');
  }
}
