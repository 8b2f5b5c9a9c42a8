/**
 * Writes medications. In: MedicationRequest with its Medication. Out: Medication Activity (V2) with dose, route,
 * timing, instructions, reason and supply. An order is an intention (INT); a medication that somebody reports as taken
 * is an event (EVN).
 */

import { coded, labelOf, readableCode, reference } from '../code.ts';
import { RXNORM } from '../code-systems.ts';
import type { CodeableConcept } from '../fhir/datatypes.ts';
import type { Dosage, Medication, MedicationRequest } from '../fhir/record.ts';
import { isReported, takenPeriod } from '../lists.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { notBefore, readablePeriod, readableTime, timeElement } from '../time.ts';
import { amount, readableQuantity } from '../value.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from '../xml.ts';
import { asNeeded, dose, instructionOf, rate, readableDosage, route, times } from './dosage.ts';
import { indication, loincCode, readableReasons, reasonsOf } from './related.ts';

/**
 * FHIR statuses as C-CDA's Medication statusCode. Statuses that C-CDA lacks become the nearest one; the narrative shows
 * the original.
 */
const STATUS: Readonly<Record<string, string>> = {
  active: 'active',
  'on-hold': 'suspended',
  cancelled: 'aborted',
  completed: 'completed',
  stopped: 'aborted',
  draft: 'active',
  unknown: 'active',
};

export const MEDICATION_COLUMNS = [
  'Medication',
  'Instructions',
  'Dose and supply',
  'Status',
  'Period',
  'Reason',
  'Ordered',
  'Ordered or reported by',
];

export function addMedication(request: MedicationRequest, content: SectionWriter): void {
  const drug = drugOf(request, content);
  const dosages = request.dosageInstruction ?? [];
  const reported = isReported(request);
  const by = request.requester ?? request.reportedReference;
  const reasons = reasonsOf(request, content.resolve);
  const bounds = takenPeriod(request);
  const forbidden = request.doNotPerform === true;
  const row = content.row(
    labelOf(drug),
    dosages.map(instructionOf).filter(Boolean).join('\n'),
    [...dosages.map(readableDosage), readableSupply(request)].filter(Boolean).join('\n'),
    [
      forbidden ? 'not to be given' : undefined,
      readableCode(request.status),
      reported ? 'as told' : request.intent === 'order' ? undefined : request.intent,
      labelOf(request.statusReason),
    ]
      .filter(Boolean)
      .join(', '),
    readablePeriod(bounds.start, bounds.end),
    readableReasons(reasons),
    readableTime(request.authoredOn),
    nameOf(by, content.resolve) || (reported ? 'patient' : ''),
  );
  // For a reported medication, the day of the report is not the start of the intake.
  const low = bounds.start ?? (reported ? undefined : request.authoredOn);
  const start = timeElement('low', low);
  const high = notBefore(bounds.end, low);
  const end = high === undefined ? NOTHING : timeElement('high', high);
  content.entry(
    xml`
    <substanceAdministration classCode="SBADM" moodCode="${reported ? 'EVN' : 'INT'}"${attribute('negationInd', forbidden ? 'true' : undefined)}>
      ${templateIds('4.16', '4.16:2014-06-09')}
      ${content.id(request)}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[request.status ?? ''] ?? 'active'}"/>
      <effectiveTime xsi:type="IVL_TS">${start}${end}</effectiveTime>
      ${times(dosages)}
      ${route(dosages)}
      ${dose(dosages)}
      ${rate(dosages)}
      <consumable>
        <manufacturedProduct classCode="MANU">
          ${templateIds('4.23', '4.23:2014-06-09')}
          <manufacturedMaterial>${coded('code', drug, { systems: [RXNORM], shown: headOf(row) })}</manufacturedMaterial>
        </manufacturedProduct>
      </consumable>
      ${author(by, request.authoredOn, content.resolve)}
      ${reasons.map((reason, i) => indication(reason, content.id(request, `reason-${i}`)))}
      ${instructions(dosages, row)}
      ${supply(request, content, row)}
      ${content.remarks(row, request)}
      ${asNeeded(dosages)}
    </substanceAdministration>`,
  );
}

function drugOf(request: MedicationRequest, content: SectionWriter): CodeableConcept | undefined {
  const { medicationReference, medicationCodeableConcept } = request;
  const medication = content.resolve(medicationReference) as Medication | undefined;
  if (medication?.code === undefined) {
    return (
      medicationCodeableConcept ??
      (medicationReference?.display === undefined ? undefined : { text: medicationReference.display })
    );
  }
  return medicationReference?.display === undefined
    ? medication.code
    : { ...medication.code, text: medicationReference.display };
}

function instructions(dosages: readonly Dosage[], row: string): Markup {
  if (dosages.every(dosage => instructionOf(dosage) === '')) return NOTHING;
  return xml`
    <entryRelationship typeCode="COMP">
      <substanceAdministration classCode="SBADM" moodCode="INT">
        ${templateIds('4.147')}
        ${loincCode({ code: '76662-6', name: 'Instructions Medication' })}
        <text>${reference(row)}</text>
        <consumable>
          <manufacturedProduct><manufacturedLabeledDrug nullFlavor="NA"/></manufacturedProduct>
        </consumable>
      </substanceAdministration>
    </entryRelationship>`;
}

/** Writes refills and amount of an order. The first supply counts as a repeat in C-CDA. */
function supply(request: MedicationRequest, content: SectionWriter, row: string): Markup {
  const { numberOfRepeatsAllowed, quantity } = request.dispenseRequest ?? {};
  if (numberOfRepeatsAllowed === undefined && quantity?.value === undefined) return NOTHING;
  const repeats =
    numberOfRepeatsAllowed === undefined ? '' : xml`<repeatNumber value="${numberOfRepeatsAllowed + 1}"/>`;
  return xml`
    <entryRelationship typeCode="REFR">
      <supply classCode="SPLY" moodCode="INT">
        ${templateIds('4.17', '4.17:2014-06-09')}
        ${content.id(request, 'supply')}
        <text>${reference(row)}</text>
        <statusCode code="${STATUS[request.status ?? ''] ?? 'active'}"/>
        ${repeats}
        ${quantity?.value === undefined ? '' : amount('quantity', quantity)}
      </supply>
    </entryRelationship>`;
}

/** Returns the supply as text for people: `supply: 30 tablets, 2 refills`. */
function readableSupply({ dispenseRequest }: MedicationRequest): string {
  const { numberOfRepeatsAllowed: refills, quantity } = dispenseRequest ?? {};
  const more = refills === undefined ? '' : refills === 1 ? '1 refill' : `${refills} refills`;
  const said = [readableQuantity(quantity), more].filter(Boolean).join(', ');
  return said && `supply: ${said}`;
}
