/**
 * Writes allergies and intolerances. In: AllergyIntolerance. Out: Allergy Concern Act (V3) with its observation,
 * reactions, severity and criticality. A record of "no allergy" becomes C-CDA's "no known allergies".
 */

import { coded, codeIn, labelOf, readableCode, reference, TYPE_CD } from '../code.ts';
import { RXNORM, SNOMED, UNII } from '../code-systems.ts';
import type { AllergyIntolerance } from '../fhir/record.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval, readableTime } from '../time.ts';
import { whenOf } from '../when.ts';
import { attribute, type Markup, templateIds, xml } from '../xml.ts';
import { concernAct, loincCode, relatedObservation, snomedElement, type Term } from './related.ts';

const SUBSTANCE: Term = { code: '419199007', name: 'Allergy to substance' };
const DRUG: Term = { code: '416098002', name: 'Allergy to drug' };
const FOOD: Term = { code: '414285001', name: 'Allergy to food' };
const ANY: Term = { code: '420134006', name: 'Propensity to adverse reaction' };

/** SNOMED CT codes that deny an allergy, and the kind of allergy that each denies. */
const NONE: Readonly<Record<string, Term>> = {
  '716186003': SUBSTANCE,
  '409137002': DRUG,
  '429625007': FOOD,
  '428607008': { code: '426232007', name: 'Allergy to environmental substance' },
};

const KINDS: Readonly<Record<string, Readonly<Record<string, Term>>>> = {
  medication: {
    allergy: DRUG,
    intolerance: { code: '59037007', name: 'Intolerance to drug' },
    unknown: { code: '419511003', name: 'Propensity to adverse reactions to drug' },
  },
  food: {
    allergy: FOOD,
    intolerance: { code: '235719002', name: 'Intolerance to food' },
    unknown: { code: '418471000', name: 'Propensity to adverse reactions to food' },
  },
};

const STATUS: Readonly<Record<string, Term & { readonly concern: 'active' | 'completed' }>> = {
  active: { concern: 'active', code: '55561003', name: 'Active' },
  inactive: { concern: 'completed', code: '73425007', name: 'Inactive' },
  resolved: { concern: 'completed', code: '413322009', name: 'Problem resolved' },
};

const SEVERITY: Readonly<Record<string, Term>> = {
  mild: { code: '255604002', name: 'Mild' },
  moderate: { code: '6736007', name: 'Moderate' },
  severe: { code: '24484000', name: 'Severe' },
};

const CRITICALITY: Readonly<Record<string, Term>> = {
  low: { code: 'CRITL', name: 'low criticality' },
  high: { code: 'CRITH', name: 'high criticality' },
  'unable-to-assess': { code: 'CRITU', name: 'unable to assess criticality' },
};

export const ALLERGY_COLUMNS = [
  'Substance',
  'Type',
  'Status',
  'Verification',
  'Criticality',
  'Reactions',
  'Onset',
  'Recorded',
  'Recorded by',
];

export function addAllergy(allergy: AllergyIntolerance, content: SectionWriter): void {
  const { code, clinicalStatus, verificationStatus, recordedDate, recorder } = allergy;
  const onset = whenOf(allergy, 'onset');
  const row = content.row(
    labelOf(code),
    [...(allergy.category ?? []), allergy.type].filter(Boolean).join(' '),
    labelOf(clinicalStatus),
    labelOf(verificationStatus),
    readableCode(allergy.criticality),
    (allergy.reaction ?? []).map(readableReaction).join('\n'),
    onset.text,
    readableTime(recordedDate),
    nameOf(recorder, content.resolve),
  );
  const status =
    STATUS[codeIn(clinicalStatus, 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical') ?? ''];
  content.entry(
    concernAct(
      {
        templates: ['4.30', '4.30:2015-08-01'],
        id: content.id(allergy, 'concern'),
        status: status?.concern ?? 'active',
        since: recordedDate ?? onset.start,
        author: author(recorder, recordedDate, content.resolve),
      },
      observation(allergy, status, content, row),
    ),
  );
}

function observation(
  allergy: AllergyIntolerance,
  status: Term | undefined,
  content: SectionWriter,
  row: string,
): Markup {
  const { code, recordedDate, recorder, criticality } = allergy;
  const none = NONE[codeIn(code, SNOMED) ?? ''];
  const refuted =
    codeIn(allergy.verificationStatus, 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification') ===
    'refuted';
  const substance =
    none === undefined
      ? coded('code', code, { systems: [RXNORM, UNII, SNOMED, 'http://hl7.org/fhir/ndfrt'], shown: headOf(row) })
      : xml`<code nullFlavor="NA"/>`;
  const critical = CRITICALITY[criticality ?? ''];
  return xml`
    <observation classCode="OBS" moodCode="EVN"${attribute('negationInd', none || refuted ? 'true' : undefined)}>
      ${templateIds('4.7', '4.7:2014-06-09')}
      ${content.id(allergy, 'observation')}
      <code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4" codeSystemName="ActCode"/>
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${interval(whenOf(allergy, 'onset').start, undefined)}
      ${snomedElement('value', none ?? kindOf(allergy), TYPE_CD)}
      ${author(recorder, recordedDate, content.resolve)}
      <participant typeCode="CSM">
        <participantRole classCode="MANU">
          <playingEntity classCode="MMAT">${substance}</playingEntity>
        </participantRole>
      </participant>
      ${
        status === undefined
          ? ''
          : relatedObservation({
              typeCode: 'REFR',
              templates: ['4.28', '4.28:2019-06-20'],
              code: loincCode({ code: '33999-4', name: 'Status' }),
              value: snomedElement('value', status, xml` xsi:type="CE"`),
              row,
            })
      }
      ${(allergy.reaction ?? []).map((_, i) => reaction(allergy, i, content, row))}
      ${
        critical === undefined
          ? ''
          : relatedObservation({
              typeCode: 'SUBJ',
              templates: ['4.145'],
              code: loincCode({ code: '82606-5', name: 'Criticality' }),
              value: xml`
    <value xsi:type="CD" code="${critical.code}" displayName="${critical.name}" codeSystem="2.16.840.1.113883.5.1063" codeSystemName="ObservationValue"/>`,
              row,
            })
      }
      ${content.remarks(
        row,
        allergy,
        (allergy.reaction ?? []).flatMap(({ description, note }) => [
          description,
          ...(note ?? []).map(({ text }) => text),
        ]),
      )}
    </observation>`;
}

/** Returns the type of reaction as far as the record gives it: kind of substance, and allergy or intolerance. */
function kindOf({ category, type }: AllergyIntolerance): Term {
  const [only, ...more] = category ?? [];
  const kinds = more.length === 0 ? KINDS[only ?? ''] : undefined;
  if (kinds !== undefined) return kinds[type ?? 'unknown'] ?? ANY;
  return type === 'allergy' ? SUBSTANCE : ANY;
}

type Reaction = NonNullable<AllergyIntolerance['reaction']>[number];

/** Writes one Reaction Observation per manifestation. */
function reaction(allergy: AllergyIntolerance, at: number, content: SectionWriter, row: string): Markup {
  const { manifestation = [], severity }: Reaction = allergy.reaction?.[at] ?? {};
  const severe = SEVERITY[severity ?? ''];
  return xml`${manifestation.map(
    (concept, i) =>
      xml`
    <entryRelationship typeCode="MFST" inversionInd="true">
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds('4.9', '4.9:2014-06-09')}
        ${content.id(allergy, `reaction-${at}-${i}`)}
        <code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4" codeSystemName="ActCode"/>
        <text>${reference(row)}</text>
        <statusCode code="completed"/>
        ${coded('value', concept, { systems: [SNOMED], attributes: TYPE_CD })}
        ${
          severe === undefined
            ? ''
            : relatedObservation({
                typeCode: 'SUBJ',
                templates: ['4.8', '4.8:2014-06-09'],
                code: xml`
    <code code="SEV" displayName="Severity" codeSystem="2.16.840.1.113883.5.4" codeSystemName="ActCode"/>`,
                value: snomedElement('value', severe, TYPE_CD),
                row,
              })
        }
      </observation>
    </entryRelationship>`,
  )}`;
}

function readableReaction({ manifestation, severity }: Reaction): string {
  const what = (manifestation ?? []).map(labelOf).join(', ');
  return severity === undefined ? what : `${what} (${severity})`;
}
