/** Spec section 2.1: the types and the profiles, and every resource is valid against the profiles that it claims. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { profileOf } from '../../src/r4/profiles.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { ASKS_ALL, shareOf } from '../share.ts';
import { claimsOf, type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

const SPEC_TYPES =
  'AllergyIntolerance CarePlan CareTeam Condition Device DiagnosticReport DocumentReference Encounter Endpoint Goal Group ' +
  'Immunization Location Medication MedicationRequest Observation OperationDefinition Organization Patient Practitioner ' +
  'PractitionerRole Procedure Provenance';

const SPEC_PROFILES =
  'us-core-allergyintolerance us-core-careplan us-core-careteam us-core-condition-encounter-diagnosis ' +
  'us-core-condition-problems-health-concerns us-core-condition us-core-implantable-device us-core-diagnosticreport-note ' +
  'us-core-diagnosticreport-lab us-core-documentreference us-core-encounter us-core-goal groupdefinition ' +
  'us-core-immunization us-core-location us-core-medication us-core-medicationrequest us-core-smokingstatus ' +
  'us-core-vital-signs pediatric-weight-for-height pediatric-bmi-for-age us-core-pulse-oximetry ' +
  'head-occipital-frontal-circumference-percentile us-core-blood-pressure us-core-body-height us-core-body-weight ' +
  'us-core-heart-rate us-core-respiratory-rate us-core-body-temperature us-core-observation-lab bodytemp bodyheight ' +
  'bodyweight bp heartrate resprate us-core-organization us-core-patient us-core-practitioner us-core-practitionerrole ' +
  'us-core-procedure us-core-provenance';

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo();
});
afterAll(() => demo.close());

test.each(SPEC_TYPES.split(' '))('%s is offered and has resources', type => {
  expect(demo.facade.offers.types).toContain(type);
  expect(demo.resources.get(type)?.length).toBeGreaterThan(0);
});

describe('every named profile is claimed by a resource and listed in the CapabilityStatement', () => {
  test.each(SPEC_PROFILES.split(' '))('%s', name => {
    const claiming = [...demo.resources.values()].flat().filter(resource => claimsOf(resource).includes(name));
    expect(claiming).not.toEqual([]);
    const { type, url } = profileOf(name) ?? {};
    expect(supportedProfiles(type ?? '')).toContain(url);
  });
});

test('every resource is valid by FHIR and by every profile that it claims', { timeout: 120_000 }, () => {
  const problems = new Map<string, { count: number; readonly example: string }>();
  let checked = 0;
  for (const resource of shareOf([...demo.resources.values()].flat(), 5, kindOf)) {
    checked++;
    for (const error of validateResource(resource)) {
      const claims = claimsOf(resource).join(' ');
      const kind = `${resource.resourceType} (${claims}) ${error.replace(/\[\d+\]/g, '')}`;
      const known = problems.get(kind) ?? { count: 0, example: resource.id };
      known.count++;
      problems.set(kind, known);
    }
  }
  expect([...problems].map(([kind, { count, example }]) => `${count} × ${kind}, such as ${example}`)).toEqual([]);
  expect(checked).toBeGreaterThan(10_000 / (ASKS_ALL ? 1 : 5));
});

/** Resources of one type that claim the same profiles. */
const kindOf = (resource: Resource): string => [resource.resourceType, ...claimsOf(resource)].join();

function supportedProfiles(type: string): readonly string[] {
  const statement = demo.facade.capabilities({ base: 'http://127.0.0.1/fhir' }) as {
    readonly rest: readonly {
      readonly resource: readonly { readonly type: string; readonly supportedProfile?: readonly string[] }[];
    }[];
  };
  return statement.rest[0]?.resource.find(entry => entry.type === type)?.supportedProfile ?? [];
}
