import { expect, test } from 'vitest';
import { misspeltSystem } from '../../src/r4/systems.ts';

test.each([
  ['https://loinc.org', 'http://loinc.org'],
  ['http://www.loinc.org/', 'http://loinc.org'],
  ['http://snomed.info/SCT', 'http://snomed.info/sct'],
  ['http://snomed.info/sctt', 'http://snomed.info/sct'],
  ['http://unitofmeasure.org', 'http://unitsofmeasure.org'],
  ['http://hl7.org/fhir/sid/us-npx', 'http://hl7.org/fhir/sid/us-npi'],
  [
    'https://terminology.hl7.org/CodeSystem/observation-category',
    'http://terminology.hl7.org/CodeSystem/observation-category',
  ],
])('%s is %s misspelt', (written, meant) => {
  expect(misspeltSystem(written)).toBe(meant);
});

test.each([
  'http://loinc.org',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://terminology.hl7.org/CodeSystem/v3-ActCode',
  'https://hospital.example.org/loinc',
  'urn:oid:2.16.840.1.113883.6.1',
])('%s is a correct address', uri => {
  expect(misspeltSystem(uri)).toBeUndefined();
});
