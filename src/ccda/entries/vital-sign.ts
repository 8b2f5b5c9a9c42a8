/**
 * Writes vital signs. In: Observation. Out: a Vital Signs Organizer (V3) for all measurements of one time and
 * encounter, with a Vital Sign Observation (V2) each. The components of a panel, such as blood pressure, are separate
 * measurements.
 */

import { coded, codeIn, labelOf, nullFlavorOf, readableCode, reference } from '../code.ts';
import { LOINC, SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Reference } from '../fhir/datatypes.ts';
import type { Observation, ObservationValue } from '../fhir/measured.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import { never, type Pause } from '../pause.ts';
import type { SectionWriter } from '../section.ts';
import { moment } from '../time.ts';
import { inWords, readableValue, unitOf } from '../value.ts';
import { whenOf } from '../when.ts';
import { attribute, type Markup, templateIds, xml } from '../xml.ts';
import { targetSite } from './related.ts';
import {
  interpretation,
  isAbnormal,
  methodCode,
  type Part,
  partsOf,
  readableOrigin,
  readableRange,
  referenceRange,
} from './result.ts';

export const VITAL_SIGN_COLUMNS = [
  'Measurement',
  'Value',
  'Flag',
  'Reference range',
  'Site and method',
  'Status',
  'Taken',
  'Taken by',
];

export async function addVitalSigns(
  observations: readonly Observation[],
  content: SectionWriter,
  pause: Pause = never,
): Promise<void> {
  const known = new Set(observations.map(({ id }) => `Observation/${id}`));
  const takings = Map.groupBy(observations, ({ effectiveDateTime, effectivePeriod, encounter }) =>
    JSON.stringify([effectiveDateTime, effectivePeriod, encounter?.reference]),
  );
  for (const taken of takings.values()) {
    const [first] = taken;
    if (first === undefined) continue;
    const components = taken
      .flatMap(one => partsOf(one, known))
      .map(one => xml`<component>${vitalSign(one, content)}</component>`);
    if (components.length === 0) continue;
    content.entry(
      xml`
    <organizer classCode="CLUSTER" moodCode="EVN">
      ${templateIds('4.26', '4.26:2015-08-01')}
      ${content.id(first, 'organizer')}
      <code code="46680005" displayName="Vital signs" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT">
        <translation code="74728-7" displayName="Vital signs, weight, height, head circumference, oximetry, BMI, and BSA panel - HL7.CCDAr1.1" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>
      </code>
      <statusCode code="completed"/>
      ${moment(first.effectiveDateTime, first.effectivePeriod)}
      ${author(first.performer?.[0], first.effectiveDateTime, content.resolve)}
      ${components}
    </organizer>`,
    );
    const due = pause();
    if (due) await due;
  }
}

function vitalSign({ of, part, said }: Part, content: SectionWriter): Markup {
  const [who]: readonly (Reference | undefined)[] = of.performer ?? [];
  const { effectiveDateTime, effectivePeriod } = of;
  // A flag on a panel does not say which of its components it means, so their entries have their own flags only.
  const flags = said.interpretation ?? of.interpretation;
  const ranges = said.referenceRange ?? [];
  const row = content[isAbnormal({ ...(flags && { interpretation: flags }) }) ? 'markedRow' : 'row'](
    labelOf(said.code),
    readableValue(said),
    (flags ?? []).map(labelOf).join(', '),
    ranges.map(readableRange).join('\n'),
    readableOrigin(of, content.resolve),
    readableCode(of.status),
    whenOf(of, 'effective').text,
    nameOf(who, content.resolve),
  );
  return xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.27', '4.27:2014-06-09')}
      ${content.id(of, `vital-sign${part}`)}
      ${coded('code', said.code, { systems: [LOINC, SNOMED], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${moment(effectiveDateTime, effectivePeriod)}
      ${measured(said, said.code, of)}
      ${(said.interpretation ?? []).map(interpretation)}
      ${methodCode(of)}
      ${targetSite(of.bodySite)}
      ${author(who, effectiveDateTime, content.resolve)}
      ${content.remarks(row, of)}
      ${ranges.map(referenceRange)}
    </observation>`;
}

/** Units of oximetry by LOINC code: its panel mixes a percentage and a flow. */
const UNITS: Readonly<Record<string, string>> = { '59408-5': '%', '2708-6': '%', '3150-6': '%', '3151-8': 'L/min' };

/**
 * Writes a PQ, as the template demands. A number without a unit gets the unit 1; one whose unit is a word keeps the
 * word; a missing value gets the reason as nullFlavor, as does one with a comparator, which a PQ cannot hold.
 */
function measured(value: ObservationValue, code: CodeableConcept | undefined, panel: Observation): Markup {
  const { valueQuantity, valueInteger, dataAbsentReason } = value;
  const number = valueQuantity?.value ?? valueInteger;
  if (number !== undefined && valueQuantity?.comparator === undefined) {
    const unit = valueQuantity && unitOf(valueQuantity);
    if (valueQuantity?.unit !== undefined && unit === undefined) {
      return inWords('value', valueQuantity, xml` xsi:type="PQ" unit="1"`);
    }
    return xml`<value xsi:type="PQ" value="${number}"${attribute('unit', unit ?? '1')}/>`;
  }
  // The unit is required even without a value: the known unit of the code, else that of another component.
  const known = codeIn(code, LOINC);
  const own = UNITS[known ?? ''];
  if (own !== undefined)
    return xml`<value xsi:type="PQ" nullFlavor="${nullFlavorOf(dataAbsentReason) ?? 'OTH'}" unit="${own}"/>`;
  const other =
    valueQuantity ?? panel.component?.find(component => component.valueQuantity !== undefined)?.valueQuantity;
  const unit = (other && unitOf(other)) ?? '1';
  return xml`
    <value xsi:type="PQ" nullFlavor="${nullFlavorOf(dataAbsentReason) ?? 'OTH'}"${attribute('unit', unit)}/>`;
}
