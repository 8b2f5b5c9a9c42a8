import { describe, expect, test } from 'vitest';
import { profileFacts, profileUrls, type Release } from '../../src/validation/facts.ts';
import type { Json } from '../../src/validation/item.ts';
import { blindSlices } from '../../src/validation/slices.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { ALLERGY, BLOOD_PRESSURE, LAB, PATIENT, PROVENANCE } from './samples.ts';

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition';
const RELEASES: readonly Release[] = ['R4', '3.1.1', '6.1.0', '7.0.0'];

/** Sets (or, without a value, removes) what is at a path of a copy. */
function spoil(resource: Json, path: string, value?: unknown): unknown {
  const copy = structuredClone(resource);
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at: unknown = copy;
  for (const name of names) at = Reflect.get(Object(at), name);
  if (value === undefined) Reflect.deleteProperty(Object(at), last);
  else Reflect.set(Object(at), last, value);
  return copy;
}

describe('validateResource', () => {
  test.each([
    ['Patient', PATIENT],
    ['blood pressure', BLOOD_PRESSURE],
    ['allergy', ALLERGY],
    ['provenance', PROVENANCE],
    ['laboratory result', LAB],
  ] as const)('finds nothing wrong with a good %s', (_name, resource) => {
    expect(validateResource(resource)).toEqual([]);
  });

  test.each<readonly [what: string, resource: Json, path: string, value: unknown, error: string]>([
    ['an unknown property', PATIENT, 'name.0.surname', 'x', 'Patient.name[0].surname: is unknown'],
    ['a choice without its type', LAB, 'value', 'x', 'Observation.value: is unknown'],
    ['an underscore before a complex element', PATIENT, '_name', [{}], 'Patient._name: is unknown'],
    ['two types of a choice', PATIENT, 'deceasedDateTime', '2020', 'Patient.deceased: has more than one type'],
    ['one value where there is a list', PATIENT, 'name', { text: 'x' }, 'Patient.name: is not an array'],
    ['a list where there is one value', PATIENT, 'gender', ['female'], 'Patient.gender: is an array'],
    ['an empty list', PATIENT, 'telecom', [], 'Patient.telecom: is empty'],
    [
      'an empty object',
      ALLERGY,
      'reaction.0.manifestation.0',
      {},
      'AllergyIntolerance.reaction[0].manifestation[0]: is empty',
    ],
    ['an empty text', PATIENT, 'identifier.0.value', ' ', 'Patient.identifier[0].value: is empty'],
    ['a null in a list', PATIENT, 'name.0._given', undefined, 'Patient.name[0].given[1]: is null'],
    ['a number as text', PATIENT, 'telecom.0.rank', '1', 'Patient.telecom[0].rank: is not a JSON number'],
    ['a number out of its range', PATIENT, 'telecom.0.rank', 0, 'Patient.telecom[0].rank: is no positiveInt'],
    [
      'a day that is not',
      ALLERGY,
      'onsetDateTime',
      '2023-02-29',
      'AllergyIntolerance.onsetDateTime: is no day of the calendar',
    ],
    [
      'a time without a zone',
      LAB,
      'effectiveDateTime',
      '2024-01-01T08:00:00',
      'Observation.effectiveDateTime: is no dateTime',
    ],
    ['an id with a foreign character', PATIENT, 'id', 'a_b', 'Patient.id: is no id'],
    ['a missing element', LAB, 'status', undefined, 'Observation.status: is missing'],
    [
      'a code outside a required binding',
      PATIENT,
      'gender',
      'f',
      'Patient.gender: is not in http://hl7.org/fhir/ValueSet/administrative-gender',
    ],
    [
      'a text where a required binding is',
      ALLERGY,
      'clinicalStatus',
      { text: 'active' },
      'AllergyIntolerance.clinicalStatus: is not in http://hl7.org/fhir/ValueSet/allergyintolerance-clinical',
    ],
    [
      'a MIME type that is none',
      PATIENT,
      'photo',
      [{ contentType: 'picture' }],
      'Patient.photo[0].contentType: is not in http://hl7.org/fhir/ValueSet/mimetypes',
    ],
    [
      'a code that its system does not have',
      BLOOD_PRESSURE,
      'category.0.coding.0.code',
      'vitals',
      'Observation.category[0].coding[0]: is not a code of http://terminology.hl7.org/CodeSystem/observation-category',
    ],
    [
      'a reference to a type that may not be there',
      LAB,
      'subject.reference',
      'Practitioner/1',
      'Observation.subject: may not name a Practitioner',
    ],
    ['a reference without a type', LAB, 'subject.reference', 'p-1', 'Observation.subject: is no reference'],
    [
      'a reference to nothing contained',
      LAB,
      'specimen.reference',
      '#t',
      'Observation.specimen: names no contained resource',
    ],
    [
      'a fault in a contained resource',
      LAB,
      'contained.0.status',
      'x',
      'Observation.contained[0].status: is not in http://hl7.org/fhir/ValueSet/specimen-status',
    ],
    [
      'a broken invariant of a data type',
      LAB,
      'valueQuantity.system',
      undefined,
      'Observation.valueQuantity: qty-3: code.empty() or system.exists()',
    ],
    [
      'a broken invariant of a resource',
      LAB,
      'dataAbsentReason',
      { text: 'x' },
      'Observation: obs-6: dataAbsentReason.empty() or value.empty()',
    ],
    [
      'a comparator in a simple quantity',
      LAB,
      'referenceRange.0.low.comparator',
      '<',
      'Observation.referenceRange[0].low: sqty-1: comparator.empty()',
    ],
    [
      'a profile that is not known',
      LAB,
      'meta.profile',
      ['http://example.org/p'],
      'Observation.meta.profile[0]: http://example.org/p is not known',
    ],
    [
      'a profile of another type',
      LAB,
      'meta.profile',
      [`${US_CORE}/us-core-patient`],
      `Observation.meta.profile[0]: ${US_CORE}/us-core-patient is not for it`,
    ],
    ['an element that the profile requires', PATIENT, 'identifier', undefined, 'Patient.identifier: is missing'],
    [
      'an element that the profile requires inside another',
      PATIENT,
      'identifier.0.system',
      undefined,
      'Patient.identifier[0].system: is missing',
    ],
    [
      'a type that the profile leaves out',
      BLOOD_PRESSURE,
      'subject.reference',
      'Group/1',
      'Observation.subject: may not name a Group',
    ],
    ['a slice that is missing', BLOOD_PRESSURE, 'category.0', { text: 'x' }, 'Observation.category:VSCat: is missing'],
    [
      'a pattern that does not fit',
      BLOOD_PRESSURE,
      'code.coding.0.code',
      '85353-1',
      'Observation.code: does not fit the pattern',
    ],
    [
      'a value other than the fixed one inside a slice',
      BLOOD_PRESSURE,
      'component.0.valueQuantity.code',
      'mmHg',
      'Observation.component[0].valueQuantity.code: is not the fixed value',
    ],
    [
      'an element that a slice requires',
      BLOOD_PRESSURE,
      'component.1.valueQuantity.unit',
      undefined,
      'Observation.component[1].valueQuantity.unit: is missing',
    ],
    [
      'an invariant of a profile',
      BLOOD_PRESSURE,
      'component.1.valueQuantity',
      undefined,
      'Observation.component[1]: vs-3: value.exists() or dataAbsentReason.exists()',
    ],
    [
      'an invariant that asks what a reference leads to',
      PROVENANCE,
      'agent.0.onBehalfOf',
      undefined,
      'Provenance.agent[0]: provenance-1: who.exists((resolve() is Practitioner) or (resolve() is Device)) implies onBehalfOf.exists()',
    ],
    [
      'an extension against its own definition',
      PATIENT,
      'extension.0.extension.1',
      { url: 'text' },
      'Patient.extension[0].extension[1].value: is missing',
    ],
    [
      'a missing part of an extension',
      PATIENT,
      'extension.0.extension.1.url',
      'txt',
      'Patient.extension[0].extension:text: is missing',
    ],
    [
      'a part that an extension does not have',
      PATIENT,
      'extension.0.extension.1.url',
      'txt',
      'Patient.extension[0].extension[1]: is no part of the extension',
    ],
    ['bytes that are not base64', PATIENT, 'photo', [{ data: 'abc' }], 'Patient.photo[0].data: is no base64Binary'],
    ['a narrative that is no div', PATIENT, 'text.div', 'Zoë', 'Patient.text.div: is no div of XHTML'],
    [
      'a code outside a value set of an extension',
      PATIENT,
      'extension.0.extension.0.valueCoding.code',
      '1000-9',
      `Patient.extension[0].extension[0].valueCoding: is not in http://hl7.org/fhir/us/core/ValueSet/omb-race-category`,
    ],
  ])('reports %s', (_what, resource, path, value, error) => {
    expect(validateResource(spoil(resource, path, value), ['6.1.0'])).toContain(error);
  });

  test.each([null, 'Patient', [], {}, { resourceType: 'Person2' }, { resourceType: 'Resource' }])(
    'rejects %j as a resource',
    value => {
      expect(validateResource(value)).toEqual(['resource: is not a resource of R4']);
    },
  );

  test('holds a profile to the version that its address names', () => {
    const profile = `${US_CORE}/us-core-observation-lab`;
    const old = { ...LAB, meta: { profile: [`${profile}|3.1.1`] } };
    expect(validateResource(old, ['3.1.1', '6.1.0'])).toEqual([]);
    expect(validateResource(old, ['6.1.0'])).toEqual([`Observation.meta.profile[0]: ${profile}|3.1.1 is not known`]);
  });

  test('does not change its input', () => {
    const before = JSON.stringify(BLOOD_PRESSURE);
    validateResource(BLOOD_PRESSURE);
    expect(JSON.stringify(BLOOD_PRESSURE)).toBe(before);
  });
});

describe('facts', () => {
  test.each(RELEASES)('of %s identify the items of every slice', release => {
    const blind = profileUrls(release).flatMap(url => blindSlices(profileFacts(release, url)?.facts ?? {}, url));
    expect(blind).toEqual([]);
  });
});
