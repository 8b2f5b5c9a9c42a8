/**
 * Writes observations within entries: a status, a severity, a reason. In: their code and value. Out: entryRelationship.
 */

import { coded, codeIn, labelOf, reference, TYPE_CD } from '../code.ts';
import { SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Reference } from '../fhir/datatypes.ts';
import type { Condition } from '../fhir/record.ts';
import type { Resolve } from '../participants.ts';
import { interval } from '../time.ts';
import { whenOf } from '../when.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from '../xml.ts';

/** A code that C-CDA fixes. */
export interface Term {
  readonly code: string;
  readonly name: string;
}

interface RelatedObservation {
  readonly typeCode: 'REFR' | 'SUBJ';
  readonly templates: readonly string[];
  /** `code` element. */
  readonly code: Markup;
  readonly value: Markup;
  readonly row: string;
}

export function relatedObservation({ typeCode, templates, code, value, row }: RelatedObservation): Markup {
  const inverted = attribute('inversionInd', typeCode === 'SUBJ' ? 'true' : undefined);
  return xml`
    <entryRelationship typeCode="${typeCode}"${inverted}>
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds(...templates)}
        ${code}
        <text>${reference(row)}</text>
        <statusCode code="completed"/>
        ${value}
      </observation>
    </entryRelationship>`;
}

/** Writes an element with a SNOMED CT code. */
export function snomedElement(element: string, { code, name }: Term, attributes?: Markup): Markup {
  return xml`
    <${element}${attributes} code="${code}" displayName="${name}" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>`;
}

/** Writes `code` with a LOINC code. */
export function loincCode({ code, name }: Term): Markup {
  return xml`
    <code code="${code}" displayName="${name}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>`;
}

/** Writes the body site, if SNOMED CT has a code for it. */
export function targetSite(concept: CodeableConcept | undefined): Markup {
  return codeIn(concept, SNOMED) === undefined ? NOTHING : coded('targetSiteCode', concept, { systems: [SNOMED] });
}

/** The properties of a Concern Act itself. */
interface Concern {
  readonly templates: readonly string[];
  readonly id: Markup;
  readonly status: 'active' | 'completed';
  readonly since: string | undefined;
  readonly until?: string | undefined;
  /** Author and time of recording. */
  readonly author: Markup;
}

/** Writes a Concern Act around the observation of a problem or of an allergy. */
export function concernAct({ templates, id, status, since, until, author }: Concern, observation: Markup): Markup {
  return xml`
    <act classCode="ACT" moodCode="EVN">
      ${templateIds(...templates)}
      ${id}
      <code code="CONC" displayName="Concern" codeSystem="2.16.840.1.113883.5.6" codeSystemName="ActClass"/>
      <statusCode code="${status}"/>
      ${interval(since, until, status === 'completed')}
      ${author}
      <entryRelationship typeCode="SUBJ">${observation}</entryRelationship>
    </act>`;
}

/** The reason for an action. */
export interface Reason {
  readonly concept: CodeableConcept;
  /** Start and end, from the referenced record. */
  readonly onset?: string | undefined;
  readonly abatement?: string | undefined;
}

interface Reasoned {
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
}

/** Returns the reasons that are given as codes, and those of the referenced records. */
export function reasonsOf({ reasonCode, reasonReference }: Reasoned, resolve: Resolve): readonly Reason[] {
  const said = (reasonCode ?? []).map(concept => ({ concept }));
  const recorded = (reasonReference ?? []).flatMap(one => {
    const condition = resolve(one) as Condition | undefined;
    if (condition?.code === undefined) return [];
    return [
      {
        concept: condition.code,
        onset: whenOf(condition, 'onset').start,
        abatement: whenOf(condition, 'abatement').end,
      },
    ];
  });
  return [...said, ...recorded];
}

/** Returns the reasons as text for people. */
export function readableReasons(reasons: readonly Reason[]): string {
  return reasons.map(({ concept }) => labelOf(concept)).join(', ');
}

/** Writes an Indication (V2). `id`: an `id` element. */
export function indication({ concept, onset, abatement }: Reason, id: Markup): Markup {
  return xml`
    <entryRelationship typeCode="RSON">
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds('4.19', '4.19:2014-06-09')}
        ${id}
        ${snomedElement('code', { code: '404684003', name: 'Finding' })}
        <statusCode code="completed"/>
        ${onset === undefined ? '' : interval(onset, abatement)}
        ${coded('value', concept, { systems: [SNOMED], attributes: TYPE_CD })}
      </observation>
    </entryRelationship>`;
}
