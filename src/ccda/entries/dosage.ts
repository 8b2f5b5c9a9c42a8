/**
 * Writes dosages. In: the `dosageInstruction` of a medication. Out: times, route, dose and rate as elements of a
 * substanceAdministration, and each dosage as text for people. The elements hold one value each, so several dosages
 * (a taper) have an element only where all of them say the same; the narrative has every dosage.
 * C-CDA R2.1 Volume 2, Medication Activity (V2)
 */

import { routeCode } from '../administration-routes.ts';
import { coded, codeIn, labelOf, TYPE_CD } from '../code.ts';
import { SNOMED } from '../code-systems.ts';
import type { Dosage, Repeat } from '../fhir/record.ts';
import { amount, amountRange, readableInterval, readableQuantity, readableRatio, unitOf } from '../value.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from '../xml.ts';

/** Returns what `write` makes of each dosage if that is the same for all; undefined otherwise. */
function common(dosages: readonly Dosage[], write: (dosage: Dosage) => Markup): Markup | undefined {
  const [first = NOTHING, ...others] = dosages.map(write);
  return others.every(({ text }) => text === first.text) ? first : undefined;
}

/** Writes the event of the day, or the frequency. */
export function times(dosages: readonly Dosage[]): Markup {
  return common(dosages, one => atEvent(one).or(frequency(one))) ?? NOTHING;
}

export function route(dosages: readonly Dosage[]): Markup {
  return common(dosages, one => routeCode(one.route)) ?? NOTHING;
}

/** Writes the dose. The template demands one, so an unknown dose has a nullFlavor. */
export function dose(dosages: readonly Dosage[]): Markup {
  const written = common(dosages, ({ doseAndRate }) => {
    const { doseQuantity, doseRange } = doseAndRate?.[0] ?? {};
    if (doseQuantity?.value !== undefined) return amount('doseQuantity', doseQuantity);
    return doseRange === undefined ? NOTHING : amountRange('doseQuantity', doseRange);
  });
  return (written ?? NOTHING).or(xml`<doseQuantity nullFlavor="UNK"/>`);
}

/** Writes the rate, such as 100 mL/h, if its unit is UCUM: the template demands a unit. */
export function rate(dosages: readonly Dosage[]): Markup {
  const written = common(dosages, ({ doseAndRate }) => {
    const { rateQuantity, rateRatio } = doseAndRate?.[0] ?? {};
    const { numerator, denominator } = rateRatio ?? {};
    const [over, under] = [numerator && unitOf(numerator), denominator && unitOf(denominator)];
    const unit = over === undefined || under === undefined ? undefined : `${over}/${under}`;
    // 1000 mL per 8 h has no exact rate per hour; the narrative has it.
    const each = Number(denominator?.value) === 1 ? numerator?.value : undefined;
    if (each !== undefined && unit !== undefined) return xml`<rateQuantity value="${each}"${attribute('unit', unit)}/>`;
    const known = rateQuantity && rateQuantity.comparator === undefined ? unitOf(rateQuantity) : undefined;
    return rateQuantity?.value === undefined || known === undefined
      ? NOTHING
      : xml`<rateQuantity value="${rateQuantity.value}"${attribute('unit', known)}/>`;
  });
  return written ?? NOTHING;
}

export function asNeeded(dosages: readonly Dosage[]): Markup {
  const written = common(dosages, ({ asNeededCodeableConcept: reason, asNeededBoolean }) =>
    reason === undefined && asNeededBoolean !== true
      ? NOTHING
      : xml`
    <precondition typeCode="PRCN">
      <criterion>
        ${templateIds('4.25', '4.25:2014-06-09')}
        <code xsi:type="CD" code="ASSERTION" codeSystem="2.16.840.1.113883.5.4" codeSystemName="ActCode"/>
        ${coded('value', reason, { systems: [SNOMED], attributes: TYPE_CD })}
      </criterion>
    </precondition>`,
  );
  return written ?? NOTHING;
}

/**
 * Writes the frequency: PIVL_TS with the time between two doses. "Once or twice a day" and "on Mondays" have no such
 * time.
 */
function frequency({ timing }: Dosage): Markup {
  const { frequency: count = 1, period, periodUnit, frequencyMax, periodMax, dayOfWeek } = timing?.repeat ?? {};
  if (period === undefined || periodUnit === undefined || count === 0) return NOTHING;
  if (frequencyMax !== undefined || periodMax !== undefined || dayOfWeek !== undefined) return NOTHING;
  const { value, unit } = wholeUnits(Number(period) / count, periodUnit);
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

/** Timing events whose code is the same in HL7 V3 and FHIR, in words. */
const EVENTS: ReadonlyMap<string, string> = new Map([
  ['HS', 'at bedtime'],
  ['WAKE', 'on waking'],
  ['C', 'with a meal'],
  ['CM', 'with breakfast'],
  ['CD', 'with lunch'],
  ['CV', 'with dinner'],
  ['AC', 'before a meal'],
  ['ACM', 'before breakfast'],
  ['ACD', 'before lunch'],
  ['ACV', 'before dinner'],
  ['PC', 'after a meal'],
  ['PCM', 'after breakfast'],
  ['PCD', 'after lunch'],
  ['PCV', 'after dinner'],
]);

/** Timing events that only FHIR has. https://hl7.org/fhir/R4/valueset-event-timing.html */
const TIMES_OF_DAY: ReadonlyMap<string, string> = new Map([
  ['MORN', 'in the morning'],
  ['MORN.early', 'early in the morning'],
  ['MORN.late', 'late in the morning'],
  ['NOON', 'at noon'],
  ['AFT', 'in the afternoon'],
  ['AFT.early', 'early in the afternoon'],
  ['AFT.late', 'late in the afternoon'],
  ['EVE', 'in the evening'],
  ['EVE.early', 'early in the evening'],
  ['EVE.late', 'late in the evening'],
  ['NIGHT', 'at night'],
  ['PHS', 'after going to sleep'],
]);

/**
 * Writes the event of the day: EIVL_TS, only if there is a single one. Several elements would mean that all of them
 * apply at once.
 */
function atEvent({ timing }: Dosage): Markup {
  const { repeat, code } = timing ?? {};
  const atBedtime = codeIn(code, GTS) === 'BED' ? ['HS'] : [];
  const [event, ...more] = repeat?.when ?? atBedtime;
  if (event === undefined || more.length > 0 || !EVENTS.has(event)) return NOTHING;
  return xml`<effectiveTime xsi:type="EIVL_TS" operator="A"><event code="${event}"/></effectiveTime>`;
}

/** Returns the instructions in the record's own words. */
export function instructionOf({ text, patientInstruction, additionalInstruction }: Dosage): string {
  const words = [text, patientInstruction, ...(additionalInstruction ?? []).map(labelOf)];
  return [...new Set(words.map(one => one?.trim() ?? ''))].filter(Boolean).join('; ');
}

/** Returns the coded parts of a dosage as text for people: `500 mg, oral, 3 times per 1 d, as needed (pain)`. */
export function readableDosage(dosage: Dosage): string {
  const { route: by, site, method, timing, doseAndRate, asNeededBoolean, asNeededCodeableConcept: reason } = dosage;
  const { doseQuantity, doseRange, rateQuantity, rateRange, rateRatio } = doseAndRate?.[0] ?? {};
  const speed = readableQuantity(rateQuantity) || readableRange(rateRange) || readableRatio(rateRatio);
  const needed = reason === undefined ? '' : ` (${labelOf(reason)})`;
  return [
    readableQuantity(doseQuantity) || readableRange(doseRange),
    speed ? `rate ${speed}` : '',
    labelOf(method),
    labelOf(by),
    labelOf(site),
    readableTiming(timing),
    reason !== undefined || asNeededBoolean === true ? `as needed${needed}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

function readableRange(range: Parameters<typeof readableInterval>[0] | undefined): string {
  return range === undefined ? '' : readableInterval(range);
}

/** Returns a timing as text for people: its code, and what else the record says of it. */
function readableTiming(timing: Dosage['timing']): string {
  const { repeat = {}, code, event = [] } = timing ?? {};
  const { when = [], timeOfDay = [], dayOfWeek = [], count, countMax, duration, durationMax, durationUnit } = repeat;
  return [
    labelOf(code),
    ...(code === undefined ? [readableFrequency(repeat)] : []),
    when.map(one => EVENTS.get(one) ?? TIMES_OF_DAY.get(one) ?? one).join(' and '),
    timeOfDay.length === 0 ? '' : `at ${timeOfDay.map(one => one.slice(0, 5)).join(', ')}`,
    dayOfWeek.length === 0 ? '' : `on ${dayOfWeek.join(', ')}`,
    event.join(', '),
    count === undefined ? '' : `${upTo(count, countMax)} in all`,
    duration === undefined ? '' : `for ${upTo(duration, durationMax)} ${durationUnit ?? ''}`.trim(),
    boundsOf(repeat),
  ]
    .filter(Boolean)
    .join(', ');
}

function boundsOf({ boundsDuration, boundsRange }: Repeat): string {
  if (boundsDuration !== undefined) return `during ${readableQuantity(boundsDuration)}`;
  return boundsRange === undefined ? '' : `during ${readableInterval(boundsRange)}`;
}

/** `3 times per 1 d`, `every 6 to 8 h`. */
function readableFrequency({ frequency: count = 1, frequencyMax, period, periodMax, periodUnit }: Repeat): string {
  if (period === undefined) return '';
  const span = `${upTo(period, periodMax)} ${periodUnit ?? ''}`.trim();
  return count === 1 && frequencyMax === undefined ? `every ${span}` : `${upTo(count, frequencyMax)} times per ${span}`;
}

function upTo(from: number | string, to: number | string | undefined): string {
  return to === undefined ? String(from) : `${from} to ${to}`;
}
