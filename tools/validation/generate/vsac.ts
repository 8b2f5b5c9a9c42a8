/**
 * Value sets of the NLM's value set authority that US Core 6.1.0 and 7.0.0 include by address only.
 *
 * In: nothing. Out: their content, which the packages do not carry. Races, ethnicities and sexes are those that US Core
 * 3.1.1 lists itself; the null flavours are those that the texts of 6.1.0 name.
 */

import type { ValueSetSource } from '../../r4/generate/sources.ts';

const BASE = 'http://cts.nlm.nih.gov/fhir/ValueSet/2.16.840.1.';
const CDC_RACE = 'urn:oid:2.16.840.1.113883.6.238';
const NULL_FLAVOR = 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor';
const GENDER = 'http://terminology.hl7.org/CodeSystem/v3-AdministrativeGender';

type Include = NonNullable<ValueSetSource['compose']>['include'][number];

export const VSAC_VALUE_SETS: readonly ValueSetSource[] = [
  valueSet('114222.4.11.836', codes(CDC_RACE, '1002-5', '2028-9', '2054-5', '2076-8', '2106-3')),
  valueSet('114222.4.11.837', codes(CDC_RACE, '2135-2', '2186-5')),
  valueSet('113883.1.11.14914', below(CDC_RACE, '1000-9')),
  valueSet('114222.4.11.877', below(CDC_RACE, '2133-7')),
  valueSet('113762.1.4.1', codes(GENDER, 'F', 'M')),
  valueSet('113762.1.4.1021.24', codes(GENDER, 'F', 'M'), codes(NULL_FLAVOR, 'UNK', 'ASKU', 'OTH')),
  valueSet('113762.1.4.1021.102', codes(NULL_FLAVOR, 'UNK', 'ASKU')),
  valueSet('113762.1.4.1021.103', codes(NULL_FLAVOR, 'UNK', 'ASKU', 'OTH')),
];

function valueSet(oid: string, ...include: readonly Include[]): ValueSetSource {
  return { resourceType: 'ValueSet', url: BASE + oid, compose: { include } };
}

function codes(system: string, ...list: readonly string[]): Include {
  return { system, concept: list.map(code => ({ code })) };
}

function below(system: string, code: string): Include {
  return { system, filter: [{ property: 'concept', op: 'is-a', value: code }] };
}
