import { expect, test } from 'vitest';
import { hasTheForm } from '../../src/r4/check-digits.ts';

test.each([
  ['http://loinc.org', '8867-4', true],
  ['http://loinc.org', '8867-5', false],
  ['http://loinc.org', 'LA6576-8', true],
  ['http://loinc.org', 'GLU', false],
  ['http://snomed.info/sct', '44054006', true],
  ['http://snomed.info/sct', '44054007', false],
  ['http://snomed.info/sct', '0440540', false],
  ['http://www.nlm.nih.gov/research/umls/rxnorm', '6809', true],
  ['http://www.nlm.nih.gov/research/umls/rxnorm', 'abc', false],
  ['http://www.nlm.nih.gov/research/umls/rxnorm', '0', false],
  ['http://hl7.org/fhir/sid/cvx', '03', true],
  ['http://hl7.org/fhir/sid/cvx', '3', false],
  ['http://hl7.org/fhir/sid/cvx', '213', true],
  ['http://hl7.org/fhir/sid/cvx', 'MMR', false],
  ['http://hl7.org/fhir/sid/ndc', '0002-8215-01', true],
  ['http://hl7.org/fhir/sid/ndc', '00002821501', true],
  ['http://hl7.org/fhir/sid/ndc', '904224461.0', false],
  ['urn:own', 'any thing', true],
  [undefined, 'x', true],
])('check digit of %s, %s: %j', (system, code, can) => {
  expect(hasTheForm(system, code)).toBe(can);
});
