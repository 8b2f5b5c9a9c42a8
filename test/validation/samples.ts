/** Makes valid resources of the types that profiles constrain most; the validator's tests spoil copies of them. */

import type { Json } from '../../src/validation/item.ts';

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition';
const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const CDC_RACE = 'urn:oid:2.16.840.1.113883.6.238';

function mmHg(code: string, value: number): Json {
  return {
    code: { coding: [{ system: LOINC, code }] },
    valueQuantity: { value, unit: 'mmHg', system: UCUM, code: 'mm[Hg]' },
  };
}

export const PATIENT: Json = {
  resourceType: 'Patient',
  id: 'p-1',
  meta: { lastUpdated: '2024-02-29T12:00:00.000+01:00', profile: [`${US_CORE}/us-core-patient`] },
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Zoë</div>' },
  extension: [
    {
      url: `${US_CORE}/us-core-race`,
      extension: [
        { url: 'ombCategory', valueCoding: { system: CDC_RACE, code: '2106-3', display: 'White' } },
        { url: 'text', valueString: 'White' },
      ],
    },
    { url: 'http://example.org/local', valueBoolean: true },
  ],
  identifier: [{ use: 'usual', system: 'http://example.org/mrn', value: '007' }],
  name: [
    {
      use: 'official',
      family: 'O’Neill',
      given: ['Zoë', null],
      _given: [null, { extension: [{ url: 'http://example.org/why', valueCode: 'masked' }] }],
    },
  ],
  telecom: [{ system: 'phone', value: '555-0100', rank: 1 }],
  gender: 'female',
  _birthDate: {
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
  },
  deceasedBoolean: false,
  communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en-US' }] } }],
  generalPractitioner: [{ reference: 'Practitioner/1' }],
};

export const BLOOD_PRESSURE: Json = {
  resourceType: 'Observation',
  id: 'o-1',
  meta: { profile: [`${US_CORE}/us-core-blood-pressure`, 'http://hl7.org/fhir/StructureDefinition/bp'] },
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
  ],
  code: { coding: [{ system: LOINC, code: '85354-9' }] },
  subject: { reference: 'Patient/p-1' },
  effectivePeriod: { start: '2024-01-01T08:00:00Z', end: '2024-01-01T08:05:00Z' },
  component: [mmHg('8480-6', 120), mmHg('8462-4', 80)],
};

export const ALLERGY: Json = {
  resourceType: 'AllergyIntolerance',
  meta: { profile: [`${US_CORE}/us-core-allergyintolerance`] },
  clinicalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
  },
  code: { text: 'Penicillin' },
  patient: { reference: 'https://example.org/fhir/Patient/p-1/_history/2' },
  onsetDateTime: '2020-02',
  reaction: [{ manifestation: [{ text: 'Hives' }] }],
};

export const PROVENANCE: Json = {
  resourceType: 'Provenance',
  meta: { profile: [`${US_CORE}/us-core-provenance`] },
  target: [{ reference: 'Patient/p-1' }],
  recorded: '2024-01-01T00:00:00Z',
  agent: [
    {
      type: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/provenance-participant-type', code: 'author' }],
      },
      who: { reference: 'Practitioner/1' },
      onBehalfOf: { reference: 'Organization/1' },
    },
  ],
};

export const LAB: Json = {
  resourceType: 'Observation',
  meta: { profile: [`${US_CORE}/us-core-observation-lab`] },
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
  ],
  code: { coding: [{ system: LOINC, code: '2345-7' }] },
  subject: { reference: 'Patient/p-1' },
  effectiveDateTime: '2024-01-01T08:00:00Z',
  valueQuantity: { value: 5.4, comparator: '<', unit: 'mmol/L', system: UCUM, code: 'mmol/L' },
  referenceRange: [{ low: { value: 3.9, unit: 'mmol/L', system: UCUM, code: 'mmol/L' } }],
  contained: [{ resourceType: 'Specimen', id: 's' }],
  specimen: { reference: '#s' },
};
