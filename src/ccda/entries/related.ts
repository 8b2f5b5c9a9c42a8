/**
 * Observations that stand within entries: a status, a severity, a reason. In: their code and value. Out: entryRelationship.
 */
import { coded, reference } from '../code.ts';
import { SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Reference } from '../fhir/datatypes.ts';
import type { Condition } from '../fhir/record.ts';
import type { Resolve } from '../participants.ts';
import { templateIds } from '../xml.ts';

/** A code that C-CDA fixes. */
export interface Term {
  readonly code: string;
  readonly name: string;
}

interface RelatedObservation {
  readonly typeCode: 'REFR' | 'SUBJ';
  readonly templates: readonly string[];
  /** `code` element. */
  readonly code: string;
  readonly value: string;
  readonly row: string;
}

export function relatedObservation({ typeCode, templates, code, value, row }: RelatedObservation): string {
  const inverted = typeCode === 'SUBJ' ? ' inversionInd="true"' : '';
  return (
    `<entryRelationship typeCode="${typeCode}"${inverted}><observation classCode="OBS" moodCode="EVN">` +
    `${templateIds(...templates)}${code}<text>${reference(row)}</text><statusCode code="completed"/>${value}</observation></entryRelationship>`
  );
}

/** An element with a code of SNOMED CT. `element` may hold attributes. */
export function snomedElement(element: string, { code, name }: Term): string {
  return `<${element} code="${code}" displayName="${name}" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>`;
}

/** `code` of LOINC. */
export function loincCode({ code, name }: Term): string {
  return `<code code="${code}" displayName="${name}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>`;
}

/** Why something was done: as it was said, and what the record that is referred to says. */
export function reasonsOf({ reasonCode, reasonReference }: Reasoned, resolve: Resolve): readonly CodeableConcept[] {
  const records = (reasonReference ?? []).flatMap(one => {
    const code = (resolve(one) as Condition | undefined)?.code;
    return code === undefined ? [] : [code];
  });
  return [...(reasonCode ?? []), ...records];
}

interface Reasoned {
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
}

/** Indication (V2): why something was done. `id`: an `id` element. */
export function indication(reason: CodeableConcept, id: string): string {
  return (
    `<entryRelationship typeCode="RSON"><observation classCode="OBS" moodCode="EVN">${templateIds('4.19', '4.19:2014-06-09')}${id}` +
    snomedElement('code', { code: '404684003', name: 'Finding' }) +
    `<statusCode code="completed"/>${coded('value', reason, { systems: [SNOMED], attributes: ' xsi:type="CD"' })}</observation></entryRelationship>`
  );
}
