/**
 * Writes immunizations. In: Immunization. Out: Immunization Activity (V3). An immunization that was not given is
 * negated, with the reason.
 */

import { routeCode } from '../administration-routes.ts';
import { coded, codeIn, labelOf, readableCode, reference } from '../code.ts';
import { ACT_REASON, CVX } from '../code-systems.ts';
import type { Immunization } from '../fhir/record.ts';
import { headOf } from '../narrative.ts';
import { nameOf, performers } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { readableTime, timeElement } from '../time.ts';
import { amount, readableQuantity } from '../value.ts';
import { type Markup, NOTHING, templateIds, textElement, xml } from '../xml.ts';

/** Value set No Immunization Reason: the reasons that C-CDA accepts. */
const REASONS: ReadonlySet<string> = new Set([
  'IMMUNE',
  'MEDPREC',
  'OSTOCK',
  'PATOBJ',
  'PHILISOP',
  'RELIG',
  'VACEFF',
  'VACSAF',
]);

export const IMMUNIZATION_COLUMNS = [
  'Vaccine',
  'Status',
  'Given',
  'Dose',
  'Route and site',
  'Lot and maker',
  'Given by',
];

export function addImmunization(shot: Immunization, content: SectionWriter): void {
  const { vaccineCode, status, statusReason, occurrenceDateTime, doseQuantity, manufacturer, lotNumber } = shot;
  const notDone = status === 'not-done';
  const dose = shot.protocolApplied?.[0]?.doseNumberPositiveInt;
  const [by] = shot.performer ?? [];
  const row = content.row(
    labelOf(vaccineCode),
    [notDone ? 'not given' : readableCode(status), labelOf(statusReason), shot.primarySource === false ? 'as told' : '']
      .filter(Boolean)
      .join(', '),
    occurrenceDateTime === undefined ? (shot.occurrenceString ?? '') : readableTime(occurrenceDateTime),
    [readableQuantity(doseQuantity), dose === undefined ? '' : `no. ${dose} of the series`].filter(Boolean).join(', '),
    [labelOf(shot.route), labelOf(shot.site)].filter(Boolean).join(', '),
    [lotNumber, manufacturer?.display].filter(Boolean).join(', '),
    nameOf(by?.actor, content.resolve),
  );
  content.entry(
    xml`
    <substanceAdministration classCode="SBADM" moodCode="EVN" negationInd="${String(notDone)}">
      ${templateIds('4.52', '4.52:2015-08-01')}
      ${content.id(shot)}
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${timeElement('effectiveTime', occurrenceDateTime)}
      ${dose === undefined ? '' : xml`<repeatNumber value="${dose}"/>`}
      ${routeCode(shot.route)}
      ${doseQuantity?.value === undefined ? '' : amount('doseQuantity', doseQuantity)}
      ${product(shot, row)}
      ${performers([by?.actor], content.resolve)}
      ${notDone ? refusal(shot, content, row) : ''}
      ${content.remarks(row, shot)}
    </substanceAdministration>`,
  );
}

function product({ vaccineCode, lotNumber, manufacturer }: Immunization, row: string): Markup {
  const maker = textElement('name', manufacturer?.display);
  return xml`
    <consumable>
      <manufacturedProduct classCode="MANU">
        ${templateIds('4.54', '4.54:2014-06-09')}
        <manufacturedMaterial>
          ${coded('code', vaccineCode, { systems: [CVX], shown: headOf(row) })}
          ${textElement('lotNumberText', lotNumber)}
        </manufacturedMaterial>
        ${maker.isEmpty ? '' : xml`<manufacturerOrganization>${maker}</manufacturerOrganization>`}
      </manufacturedProduct>
    </consumable>`;
}

function refusal(shot: Immunization, content: SectionWriter, row: string): Markup {
  const { statusReason } = shot;
  if (codeIn(statusReason, ACT_REASON) === undefined && labelOf(statusReason) === '') return NOTHING;
  return xml`
    <entryRelationship typeCode="RSON">
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds('4.53')}
        ${content.id(shot, 'refusal')}
        ${coded('code', statusReason, { systems: [ACT_REASON], only: REASONS })}
        <text>${reference(row)}</text>
        <statusCode code="completed"/>
      </observation>
    </entryRelationship>`;
}
