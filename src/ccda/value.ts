/**
 * Writes values of observations. In: value[x] of FHIR. Out: `value` with the equivalent CDA type, and text for people.
 * A unit outside UCUM makes the value a text, a comparator makes it an interval, a missing value has a nullFlavor. CDA
 * R2 datatypes; C-CDA R2.1 Volume 2, Result Observation
 */

import { coded, labelOf, nullFlavorOf, TYPE_CD } from './code.ts';
import { UCUM } from './code-systems.ts';
import type { Quantity, Range } from './fhir/datatypes.ts';
import type { ObservationValue } from './fhir/measured.ts';
import { interval, readablePeriod, readableTime, timeValue } from './time.ts';
import { attribute, type Markup, NOTHING, textElement, xml } from './xml.ts';

export interface ValueOptions {
  /** Code systems for coded values. */
  readonly systems?: readonly string[];
  /** Id of the narrative cell that shows the value. */
  readonly shown?: string;
}

/** Writes `value`, with a nullFlavor if there is none. */
export function valueElement(value: ObservationValue, options: ValueOptions = {}): Markup {
  if (value.valueQuantity !== undefined) return quantityValue(value.valueQuantity);
  if (value.valueCodeableConcept !== undefined) {
    return coded('value', value.valueCodeableConcept, { ...options, attributes: TYPE_CD });
  }
  if (value.valueString !== undefined) return textElement('value', value.valueString, TYPE_ST);
  if (value.valueBoolean !== undefined) return xml`<value xsi:type="BL" value="${String(value.valueBoolean)}"/>`;
  if (value.valueInteger !== undefined) return xml`<value xsi:type="INT" value="${value.valueInteger}"/>`;
  if (value.valueRange !== undefined) return rangeValue(value.valueRange);
  if (value.valueDateTime !== undefined) return timeValue(value.valueDateTime);
  if (value.valuePeriod !== undefined)
    return interval(value.valuePeriod.start, value.valuePeriod.end, false, 'value', xml` xsi:type="IVL_TS"`);
  const text = value.valueTime ?? readableRatio(value.valueRatio);
  if (text !== undefined) return textElement('value', text, TYPE_ST);
  return xml`<value xsi:type="ST" nullFlavor="${nullFlavorOf(value.dataAbsentReason) ?? 'UNK'}"/>`;
}

/** Attribute for `textElement`: marks the value as a text. */
export const TYPE_ST = xml` xsi:type="ST"`;

/** Writes a quantity: PQ; IVL_PQ with a comparator; REAL without a unit; as text if the unit is not UCUM. */
export function quantityValue(quantity: Quantity): Markup {
  const { value, comparator } = quantity;
  const unit = unitOf(quantity);
  if (value === undefined) return xml`<value xsi:type="PQ" nullFlavor="UNK"/>`;
  if (unit === undefined && quantity.unit !== undefined) {
    return xml`<value xsi:type="ST">${readableQuantity(quantity)}</value>`;
  }
  if (comparator !== undefined) return xml`<value xsi:type="IVL_PQ">${bound(quantity)}</value>`;
  return unit === undefined
    ? xml`<value xsi:type="REAL" value="${value}"/>`
    : xml`<value xsi:type="PQ" value="${value}"${attribute('unit', unit)}/>`;
}

/**
 * Returns the UCUM code of a quantity in the spelling of C-CDA's value set. The set has one of both names of the
 * international unit and no leading annotation: `{score}` becomes the unit 1, `{drinks}/d` becomes `/d`, which means
 * the same in UCUM.
 */
export function unitOf({ system, code }: Quantity): string | undefined {
  if (system !== UCUM) return undefined;
  return code?.replace(/^\{[^}]*\}/, '').replaceAll('[iU]', '[IU]') || (code && '1');
}

/**
 * Writes an amount of a drug, which CDA reads as IVL_PQ: PQ, or an open bound with a comparator. Counted amounts
 * (tablets, puffs) are numbers without a unit (CONF:1098-16879). A unit outside UCUM stays in words: as a number alone,
 * `500 mg` would be read as 500 tablets.
 */
export function amount(element: 'doseQuantity' | 'quantity', quantity: Quantity): Markup {
  const { value = '', comparator } = quantity;
  // Only a dose may be an interval.
  if (comparator !== undefined) {
    return element === 'doseQuantity' && !isMeasuredInWords(quantity)
      ? xml`<${element}>${bound(quantity)}</${element}>`
      : xml`<${element} nullFlavor="OTH"/>`;
  }
  if (isMeasuredInWords(quantity)) return inWords(element, quantity);
  return xml`<${element} value="${value}"${attribute('unit', measuredUnitOf(quantity))}/>`;
}

/** True if the unit is a word, not a code of UCUM. */
function isInWords(quantity: Quantity | undefined): boolean {
  return quantity?.unit !== undefined && unitOf(quantity) === undefined;
}

const DRUG_FORM = 'http://terminology.hl7.org/CodeSystem/v3-orderableDrugForm';

/** Words for things that are counted. */
const COUNTED =
  /^(?:tab(?:let)?|cap(?:sule|let)?|puff|spray|drop|patch|suppository|lozenge|piece|each|ea|dose|application)(?:s|es)?\.?$/i;

/** True if the unit of an amount is a word, and the amount is no count of tablets or the like. */
function isMeasuredInWords(quantity: Quantity | undefined): boolean {
  return isInWords(quantity) && quantity?.system !== DRUG_FORM && !COUNTED.test(quantity?.unit?.trim() ?? '');
}

/** Returns the UCUM code of an amount of a drug; undefined for counted amounts, such as tablets. */
function measuredUnitOf(quantity: Quantity): string | undefined {
  const unit = unitOf(quantity);
  return unit === '1' ? undefined : unit;
}

/** Writes an amount of a drug between two ends, `1 to 2 tablets`. */
export function amountRange(element: 'doseQuantity', { low, high }: Range): Markup {
  // CDA has no words for the ends of an interval; the narrative has both.
  if ([low, high].some(isMeasuredInWords)) return NOTHING;
  const ends = xml`${rangeEnd('low', low, measuredUnitOf)}${rangeEnd('high', high, measuredUnitOf)}`;
  return ends.isEmpty ? NOTHING : xml`<${element}>${ends}</${element}>`;
}

/** Writes a PQ whose unit is no UCUM: its number with the record's word for the unit. */
export function inWords(element: string, { value = '', unit }: Quantity, attributes?: Markup): Markup {
  return xml`
    <${element}${attributes} nullFlavor="OTH"><translation value="${value}" nullFlavor="OTH">${textElement('originalText', unit)}</translation></${element}>`;
}

/** Writes a comparator as an open bound: `<5` is an exclusive high. */
function bound(quantity: Quantity): Markup {
  const { comparator = '<', value = '' } = quantity;
  const inclusive = attribute('inclusive', comparator.endsWith('=') ? undefined : 'false');
  const element = comparator.startsWith('<') ? 'high' : 'low';
  return xml`<${element}${inclusive} value="${value}"${attribute('unit', unitOf(quantity))}/>`;
}

/** Writes an IVL_PQ with the known ends; as text if a unit is not UCUM. */
export function rangeValue({ low, high }: Range): Markup {
  // An interval cannot hold a unit outside UCUM, and without its unit a number would mean something else.
  if ([low, high].some(isInWords)) {
    return textElement('value', readableInterval({ ...(low && { low }), ...(high && { high }) }), TYPE_ST);
  }
  return xml`<value xsi:type="IVL_PQ">${rangeEnd('low', low)}${rangeEnd('high', high)}</value>`;
}

function rangeEnd(element: 'low' | 'high', quantity: Quantity | undefined, unit = unitOf): Markup {
  if (quantity?.value === undefined) return NOTHING;
  return xml`<${element} value="${quantity.value}"${attribute('unit', unit(quantity))}/>`;
}

/** Returns text for people: `< 5 mg/dL`. */
export function readableQuantity(quantity: Quantity | undefined): string {
  if (quantity?.value === undefined) return '';
  const unit = (quantity.unit ?? quantity.code)?.replace(/^\{(.*?)\}/, '$1');
  return [quantity.comparator, quantity.value, unit].filter(Boolean).join(' ');
}

/** Returns text for people: `4 to 10 mg/dL`, `at least 4`, `at most 10`. */
export function readableInterval({ low, high }: Range): string {
  const [from, to] = [low, high].map(readableQuantity);
  if (from && to) return `${from} to ${to}`;
  return from ? `at least ${from}` : to ? `at most ${to}` : '';
}

/** Returns text for people: `1:128`, `30 mg : 1 g`. */
export function readableRatio(ratio: ObservationValue['valueRatio']): string | undefined {
  const [over, under] = [readableQuantity(ratio?.numerator), readableQuantity(ratio?.denominator)];
  if (!over || !under) return undefined;
  return /\s/.test(over + under) ? `${over} : ${under}` : `${over}:${under}`;
}

/** Returns any value as text for people. */
export function readableValue(value: ObservationValue): string {
  if (value.valueQuantity !== undefined) return readableQuantity(value.valueQuantity);
  if (value.valueCodeableConcept !== undefined) return labelOf(value.valueCodeableConcept);
  if (value.valueString !== undefined) return value.valueString;
  if (value.valueBoolean !== undefined) return value.valueBoolean ? 'Yes' : 'No';
  if (value.valueInteger !== undefined) return String(value.valueInteger);
  if (value.valueRange !== undefined) {
    return readableInterval(value.valueRange);
  }
  if (value.valuePeriod !== undefined) return readablePeriod(value.valuePeriod.start, value.valuePeriod.end);
  if (value.valueDateTime !== undefined) return readableTime(value.valueDateTime);
  return value.valueTime ?? readableRatio(value.valueRatio) ?? labelOf(value.dataAbsentReason);
}
