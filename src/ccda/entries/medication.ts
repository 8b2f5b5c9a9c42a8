/**
 * Writes medications. In: MedicationRequest with its Medication. Out: Medication Activity (V2) with dose, route,
 * timing, instructions, reason and supply. An order is an intention (INT); a medication that somebody reports as taken
 * is an event (EVN).
 */

import { routeCode } from '../administration-routes.ts';
import { coded, codeIn, labelOf, readableCode, reference, TYPE_CD } from '../code.ts';
import { RXNORM, SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Quantity } from '../fhir/datatypes.ts';
import type { Dosage, Medication, MedicationRequest } from '../fhir/record.ts';
import { isReported } from '../lists.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { notBefore, readablePeriod, readableTime, timeElement } from '../time.ts';
import { measuredUnitOf } from '../value.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from '../xml.ts';
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
  'Status',
  'Period',
  'Reason',
  'Ordered',
  'Ordered or reported by',
];

export function addMedication(request: MedicationRequest, content: SectionWriter): void {
  const drug = drugOf(request, content);
  const dosage = request.dosageInstruction?.[0];
  const reported = isReported(request);
  const by = request.requester ?? request.reportedReference;
  const reasons = reasonsOf(request, content.resolve);
  const bounds = dosage?.timing?.repeat?.boundsPeriod;
  const row = content.row(
    labelOf(drug),
    dosage?.text ?? labelOf(dosage?.timing?.code),
    [
      readableCode(request.status),
      reported ? 'as told' : request.intent === 'order' ? undefined : request.intent,
      labelOf(request.statusReason),
    ]
      .filter(Boolean)
      .join(', '),
    readablePeriod(bounds?.start, bounds?.end),
    readableReasons(reasons),
    readableTime(request.authoredOn),
    nameOf(by, content.resolve) || (reported ? 'patient' : ''),
  );
  // For a reported medication, the day of the report is not the start of the intake.
  const low = bounds?.start ?? (reported ? undefined : request.authoredOn);
  const start = timeElement('low', low);
  const high = notBefore(bounds?.end, low);
  const end = high === undefined ? NOTHING : timeElement('high', high);
  content.entry(
    xml`
    <substanceAdministration classCode="SBADM" moodCode="${reported ? 'EVN' : 'INT'}">
      ${templateIds('4.16', '4.16:2014-06-09')}
      ${content.id(request)}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[request.status ?? ''] ?? 'active'}"/>
      <effectiveTime xsi:type="IVL_TS">${start}${end}</effectiveTime>
      ${atEvent(dosage).or(frequency(dosage))}
      ${routeCode(dosage?.route)}
      ${dose(dosage?.doseAndRate?.[0]?.doseQuantity)}
      <consumable>
        <manufacturedProduct classCode="MANU">
          ${templateIds('4.23', '4.23:2014-06-09')}
          <manufacturedMaterial>${coded('code', drug, { systems: [RXNORM], shown: headOf(row) })}</manufacturedMaterial>
        </manufacturedProduct>
      </consumable>
      ${author(by, request.authoredOn, content.resolve)}
      ${reasons.map((reason, i) => indication(reason, content.id(request, `reason-${i}`)))}
      ${instructions(dosage, row)}
      ${supply(request, content, row)}
      ${content.remarks(row, request)}
      ${asNeeded(dosage)}
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

/** Writes the frequency: PIVL_TS with the time between two doses. */
function frequency(dosage: Dosage | undefined): Markup {
  const { frequency: times = 1, period, periodUnit } = dosage?.timing?.repeat ?? {};
  if (period === undefined || periodUnit === undefined || times === 0) return NOTHING;
  const { value, unit } = wholeUnits(Number(period) / times, periodUnit);
  return xml`
    <effectiveTime xsi:type="PIVL_TS" institutionSpecified="true" operator="A">
      <period value="${value}"${attribute('unit', unit)}/>
    </effectiveTime>`;
}

/** The next smaller unit of time, and how many of them make one. */
const SMALLER: Readonly<Record<string, readonly [unit: string, count: number]>> = {
  wk: ['d', 7],
  d: ['h', 24],
  h: ['min', 60],
  min: ['s', 60],
};

/**
 * Converts a time to the largest unit in which it is a whole number (a third of a day is 8 h). If there is none, keeps
 * the unit and rounds to six decimals.
 */
function wholeUnits(value: number, unit: string): { readonly value: number; readonly unit: string } {
  for (let [some, of] = [value, unit]; ; ) {
    const rounded = Math.round(some);
    if (Math.abs(some - rounded) < 1e-9) return { value: rounded, unit: of };
    const smaller = SMALLER[of];
    if (smaller === undefined) return { value: Math.round(value * 1e6) / 1e6, unit };
    [some, of] = [some * smaller[1], smaller[0]];
  }
}

/** https://hl7.org/fhir/R4/v3/GTSAbbreviation/cs.html */
const GTS = 'http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation';

/** Timing events whose code is the same in HL7 V3 and FHIR. https://hl7.org/fhir/R4/valueset-event-timing.html */
const EVENTS: ReadonlySet<string> = new Set([
  'HS',
  'WAKE',
  'C',
  'CM',
  'CD',
  'CV',
  'AC',
  'ACM',
  'ACD',
  'ACV',
  'PC',
  'PCM',
  'PCD',
  'PCV',
]);

/**
 * Writes the event of the day: EIVL_TS, only if there is a single one. Several elements would mean that all of them
 * apply at once.
 */
function atEvent(dosage: Dosage | undefined): Markup {
  const { repeat, code } = dosage?.timing ?? {};
  const atBedtime = codeIn(code, GTS) === 'BED' ? ['HS'] : [];
  const [event, ...more] = repeat?.when ?? atBedtime;
  if (event === undefined || more.length > 0 || !EVENTS.has(event)) return NOTHING;
  return xml`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="${event}"/></effectiveTime>`;
}

/** Writes a dose with its UCUM unit. Counted doses (tablets, puffs) are numbers without a unit (CONF:1098-16879). */
function dose(quantity: Quantity | undefined): Markup {
  if (quantity?.value === undefined) return xml`<doseQuantity nullFlavor="UNK"/>`;
  return xml`<doseQuantity value="${quantity.value}"${attribute('unit', measuredUnitOf(quantity))}/>`;
}

function instructions(dosage: Dosage | undefined, row: string): Markup {
  if (dosage?.text === undefined) return NOTHING;
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
  const amount =
    quantity?.value === undefined
      ? ''
      : xml`<quantity value="${quantity.value}"${attribute('unit', measuredUnitOf(quantity))}/>`;
  return xml`
    <entryRelationship typeCode="REFR">
      <supply classCode="SPLY" moodCode="INT">
        ${templateIds('4.17', '4.17:2014-06-09')}
        ${content.id(request, 'supply')}
        <text>${reference(row)}</text>
        <statusCode code="${STATUS[request.status ?? ''] ?? 'active'}"/>
        ${repeats}
        ${amount}
      </supply>
    </entryRelationship>`;
}

function asNeeded(dosage: Dosage | undefined): Markup {
  const reason = dosage?.asNeededCodeableConcept;
  if (reason === undefined && dosage?.asNeededBoolean !== true) return NOTHING;
  return xml`
    <precondition typeCode="PRCN">
      <criterion>
        ${templateIds('4.25', '4.25:2014-06-09')}
        <code xsi:type="CD" code="ASSERTION" codeSystem="2.16.840.1.113883.5.4" codeSystemName="ActCode"/>
        ${coded('value', reason, { systems: [SNOMED], attributes: TYPE_CD })}
      </criterion>
    </precondition>`;
}
