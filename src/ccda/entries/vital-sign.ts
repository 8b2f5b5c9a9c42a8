/**
 * Vital signs. In: Observation. Out: a Vital Signs Organizer (V3) for all measurements of one time and encounter, with
 * a Vital Sign Observation (V2) each. The components of a panel, such as blood pressure, are separate measurements.
 */

import { coded, codeIn, labelOf, nullFlavorOf, readableCode, reference } from '../code.ts';
import { LOINC, SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Reference } from '../fhir/datatypes.ts';
import type { Observation, ObservationValue } from '../fhir/measured.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { moment, readablePeriod, readableTime } from '../time.ts';
import { readableValue, unitOf } from '../value.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from '../xml.ts';
import { interpretation, isAbnormal } from './result.ts';

export const VITAL_SIGN_COLUMNS = ['Measurement', 'Value', 'Status', 'Taken', 'Taken by'];

interface Measurement {
  readonly of: Observation;
  readonly part: string;
  readonly code: CodeableConcept | undefined;
  readonly value: ObservationValue;
}

export function addVitalSigns(observations: readonly Observation[], content: SectionWriter): void {
  const known = new Set(observations.map(({ id }) => `Observation/${id}`));
  const takings = Map.groupBy(observations, ({ effectiveDateTime, effectivePeriod, encounter }) =>
    JSON.stringify([effectiveDateTime, effectivePeriod, encounter?.reference]),
  );
  for (const taken of takings.values()) {
    const [first] = taken;
    if (first === undefined) continue;
    const components = taken
      .flatMap(one => measurements(one, known))
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
  }
}

/** The value of an observation, and those of its components. A panel of `known` members needs no value. */
function measurements(observation: Observation, known: ReadonlySet<string>): readonly Measurement[] {
  const parts = (observation.component ?? []).map((component, i) => ({
    of: observation,
    part: `component-${i}`,
    code: component.code,
    value: component,
  }));
  const whole = { of: observation, part: '', code: observation.code, value: observation };
  const isSaid = parts.length > 0 || (observation.hasMember ?? []).some(({ reference: at = '' }) => known.has(at));
  return readableValue(observation) === '' && isSaid ? parts : [whole, ...parts];
}

function vitalSign({ of, part, code, value }: Measurement, content: SectionWriter): Markup {
  const [who]: readonly (Reference | undefined)[] = of.performer ?? [];
  const { effectiveDateTime, effectivePeriod } = of;
  const row = content[isAbnormal(of) ? 'markedRow' : 'row'](
    labelOf(code),
    readableValue(value),
    readableCode(of.status),
    effectivePeriod === undefined
      ? readableTime(effectiveDateTime)
      : readablePeriod(effectivePeriod.start, effectivePeriod.end),
    nameOf(who, content.resolve),
  );
  return xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.27', '4.27:2014-06-09')}
      ${content.id(of, `vital-sign${part}`)}
      ${coded('code', code, { systems: [LOINC, SNOMED], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${moment(effectiveDateTime, effectivePeriod)}
      ${measured(value, code, of)}
      ${part === '' ? (of.interpretation ?? []).map(interpretation) : ''}
      ${site(of.bodySite)}
      ${author(who, effectiveDateTime, content.resolve)}
      ${content.remarks(row, of)}
    </observation>`;
}

/** Units of oximetry, whose panel has a share and a flow. */
const UNITS: Readonly<Record<string, string>> = { '59408-5': '%', '2708-6': '%', '3150-6': '%', '3151-8': 'L/min' };

/** PQ, as the template demands: numbers without a unit have the unit 1; what was not measured says why. */
function measured(value: ObservationValue, code: CodeableConcept | undefined, panel: Observation): Markup {
  const { valueQuantity, valueInteger, dataAbsentReason } = value;
  const number = valueQuantity?.value ?? valueInteger;
  if (number !== undefined) {
    const unit = valueQuantity === undefined ? '1' : (unitOf(valueQuantity) ?? '1');
    return xml`<value xsi:type="PQ" value="${number}"${attribute('unit', unit)}/>`;
  }
  // A unit must stand there even so: its own, where parts of a panel have different ones, else that of the rest.
  const known = codeIn(code, LOINC);
  const own = UNITS[known ?? ''];
  if (own !== undefined)
    return xml`<value xsi:type="PQ" nullFlavor="${nullFlavorOf(dataAbsentReason) ?? 'OTH'}" unit="${own}"/>`;
  const other = panel.component?.find(component => component.valueQuantity !== undefined)?.valueQuantity;
  const unit = (other && unitOf(other)) ?? '1';
  return xml`
    <value xsi:type="PQ" nullFlavor="${nullFlavorOf(dataAbsentReason) ?? 'OTH'}"${attribute('unit', unit)}/>`;
}

function site(bodySite: CodeableConcept | undefined): Markup {
  return codeIn(bodySite, SNOMED) === undefined ? NOTHING : coded('targetSiteCode', bodySite, { systems: [SNOMED] });
}
