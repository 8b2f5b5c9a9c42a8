/** Tests the form of telephone numbers and birth dates. */
import { expect, it, test } from 'vitest';
import type { Patient } from '../../src/ccda/fhir/people.ts';
import { recordTarget } from '../../src/ccda/header.ts';
import { author } from '../../src/ccda/participants.ts';
import { addressElement, telecomElements } from '../../src/ccda/people.ts';

const written = (value: string, system = 'phone'): string | undefined =>
  /value="([^"]*)"/.exec(telecomElements([{ system, value }]).text)?.[1];

test.each([
  ['303 555 9525 x12', 'tel:3035559525;ext=12'],
  ['303-555-9525 ext. 12', 'tel:303-555-9525;ext=12'],
  ['303-555-9525, extension 12', 'tel:303-555-9525;ext=12'],
  ['207_555_0188#7', 'tel:2075550188;ext=7'],
  ['tel:+1-207-555-0188;ext=12', 'tel:+1-207-555-0188;ext=12'],
  ['+1 (207) 555-0188', 'tel:+1(207)555-0188'],
  ['(720)5551383', 'tel:(720)5551383'],
  ['(H)2075550188 call pm', 'tel:2075550188'],
  ['207-555-0188 after 5', 'tel:207-555-0188'],
  ['207-555-0188, 207-555-0199', 'tel:207-555-0188'],
  ['207-555-0188 or 207-555-0199', 'tel:207-555-0188'],
  ['207·555·0188', 'tel:2075550188'],
  ['207-555-0188 -', 'tel:207-555-0188'],
  ['unlisted', undefined],
])('the telephone number %s is written as %s', (value, expected) => {
  expect(written(value)).toBe(expected);
});

it('writes an email address unchanged', () => {
  expect(written(' a.b2@example.org ', 'email')).toBe('mailto:a.b2@example.org');
});

const bornAt = (birthDate: string | undefined, valueDateTime: string): string | undefined => {
  const url = 'http://hl7.org/fhir/StructureDefinition/patient-birthTime';
  const patient = { resourceType: 'Patient', id: '1', birthDate, _birthDate: { extension: [{ url, valueDateTime }] } };
  return /<birthTime ([^/]*)\/>/.exec(recordTarget(patient as Patient).text)?.[1];
};

it('writes the time of birth if it is on the day of birth', () => {
  expect(bornAt('2025-10-17', '2025-10-17T20:03:00-06:00')).toBe('value="20251017200300-0600"');
  expect(bornAt('2025-10-17', '2025-10-18T02:03:00Z')).toBe('value="20251017"');
  expect(bornAt('2025-10', '2025-10-17T20:03:00-06:00')).toBe('value="202510"');
  expect(bornAt(undefined, '2025-10-17T20:03:00-06:00')).toBe('nullFlavor="UNK"');
});

test('an address of more than four lines has the rest in the fourth', () => {
  const lines = (line: readonly string[]) =>
    [...addressElement({ line }).text.matchAll(/<streetAddressLine>([^<]*)/g)].map(([, text]) => text);
  expect(lines(['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'c', 'd']);
  expect(lines(['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c', 'd, e']);
});

test.each([
  [{ reference: 'Practitioner/1', display: 'Dr. Vega' }, '<name>Dr. Vega</name>'],
  [{ display: 'Dr. Vega' }, '<name>Dr. Vega</name>'],
  [{ reference: 'Practitioner/1' }, '<name><given nullFlavor="UNK"/><family nullFlavor="UNK"/></name>'],
])('an author who is not in the record has the name that the reference %j shows', (reference, name) => {
  const { text } = author(reference, '2024-05-01', () => undefined);
  expect(/<assignedPerson>(.*?)<\/assignedPerson>/s.exec(text)?.[1]?.trim()).toBe(name);
});

test('an author has address, telephone and name, because no other place of the document may have them', () => {
  const person = {
    ...{ resourceType: 'Practitioner', id: '1', name: [{ family: 'Kim' }] },
    address: [{ line: ['1 Quay St'], city: 'Yarmouth' }],
    telecom: [{ system: 'phone', value: '902-555-0100' }],
  };
  const { text } = author({ reference: 'Practitioner/1' }, '2024-03-10', () => person);
  expect(text.replace(/\s+/g, ' ')).toMatch(
    /<streetAddressLine>1 Quay St<.*<telecom value="tel:902-555-0100"\/>.*<assignedPerson>.*<family>Kim</,
  );
  const unknown = author({ display: 'Dr. Kim' }, '2024-03-10', () => undefined).text;
  expect(unknown).toMatch(/<city nullFlavor="UNK"\/>.*<telecom nullFlavor="UNK"\/>.*<name>Dr. Kim</s);
});

test('an organization as author has an unknown person, because the template demands one', () => {
  const organization = { resourceType: 'Organization', id: '1', name: 'Harbour Health' };
  const { text } = author({ reference: 'Organization/1' }, '2024-03-10', () => organization);
  expect(text).toMatch(
    /<assignedPerson>.*<family nullFlavor="UNK"\/>.*<\/assignedPerson>\s*<representedOrganization>/s,
  );
});

test('an address without a country gets none: a Canadian one would be shown as American', () => {
  const shown = (address: object) => /<country>.*<\/country>/.exec(addressElement(address).text)?.[0];
  expect(shown({ line: ['12 Quay St'], city: 'Yarmouth', state: 'NS', postalCode: 'B5A 1A1' })).toBeUndefined();
  expect(shown({ city: 'Yarmouth', country: 'CA' })).toBe('<country>CA</country>');
  expect(shown({ city: 'Madison', country: 'usa' })).toBe('<country>US</country>');
});
