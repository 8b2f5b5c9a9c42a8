/**
 * Reads when something began, ended or was done, in each form that FHIR has: date, period, age, range of ages, words.
 * In: a resource and the name of the choice element. Out: start and end if they are dates, and text for people. The
 * date of recording is not considered. https://hl7.org/fhir/R4/formats.html#choice
 */
import type { Period, Quantity, Range } from './fhir/datatypes.ts';
import { readablePeriod, readableTime } from './time.ts';
import { readableInterval, readableQuantity, unitOf } from './value.ts';
import { type Markup, NOTHING, templateIds, xml } from './xml.ts';

/** The forms of one choice element, such as `onset`. */
export type When<Name extends string> = {
  readonly [Key in `${Name}DateTime` | `${Name}String`]?: string;
} & { readonly [Key in `${Name}Period`]?: Period } & { readonly [Key in `${Name}Age`]?: Quantity } & {
  readonly [Key in `${Name}Range`]?: Range;
};

export interface ReadWhen {
  /** Dates; undefined where the record has none. */
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly age: Quantity | undefined;
  /** Empty if the record does not say. */
  readonly text: string;
}

export function whenOf<Name extends string>(resource: When<Name>, name: Name): ReadWhen {
  const at = resource as Readonly<Record<string, unknown>>;
  const [day, words] = [at[`${name}DateTime`], at[`${name}String`]] as (string | undefined)[];
  const period = at[`${name}Period`] as Period | undefined;
  const age = at[`${name}Age`] as Quantity | undefined;
  const range = at[`${name}Range`] as Range | undefined;
  const texts = [
    readableTime(day),
    readablePeriod(period?.start, period?.end),
    age === undefined ? '' : `at the age of ${readableQuantity(named(age))}`,
    range === undefined
      ? ''
      : `at the age of ${readableInterval({ ...(range.low && { low: named(range.low) }), ...(range.high && { high: named(range.high) }) })}`,
    words ?? '',
  ];
  return {
    start: day ?? period?.start,
    end: day ?? period?.end,
    age,
    text: texts.find(text => text !== '') ?? '',
  };
}

const NAMES: Readonly<Record<string, string>> = { a: 'years', mo: 'months', wk: 'weeks', d: 'days' };

/** Adds a readable unit if the record has a code alone. */
function named(age: Quantity): Quantity {
  return { ...age, unit: age.unit ?? NAMES[age.code ?? ''] ?? age.code ?? '' };
}

/** Units that the template allows: https://terminology.hl7.org/ValueSet-AgePQUCUM.html */
const AGE_UNITS: ReadonlySet<string> = new Set(['a', 'mo', 'wk', 'd', 'h', 'min']);

/** Writes an Age Observation (C-CDA R2.1) within the entry; empty unless the age is a number with such a unit. */
export function ageObservation(age: Quantity | undefined): Markup {
  const unit = age && unitOf(age);
  if (age?.value === undefined || age.comparator !== undefined || unit === undefined || !AGE_UNITS.has(unit))
    return NOTHING;
  return xml`
    <entryRelationship typeCode="SUBJ" inversionInd="true">
      <observation classCode="OBS" moodCode="EVN">
        ${templateIds('4.31')}
        <code code="445518008" displayName="Age at onset" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>
        <statusCode code="completed"/>
        <value xsi:type="PQ" value="${age.value}" unit="${unit}"/>
      </observation>
    </entryRelationship>`;
}
