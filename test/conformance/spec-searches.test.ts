/** Spec section 4.3: the server offers every parameter of every type, and the CapabilityStatement lists them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { type Demo, openDemo } from '../law/demo.ts';

const SPEC: Readonly<Record<string, string>> = {
  AllergyIntolerance: 'clinical-status patient',
  CarePlan: 'category date patient status',
  CareTeam: 'patient status',
  Condition: 'category clinical-status code onset-date patient',
  Device: 'patient type',
  DiagnosticReport: '_id category code date patient status',
  DocumentReference: '_id category date patient period status type',
  Encounter: '_id class date identifier patient status type',
  Endpoint: '',
  Goal: 'lifecycle-status patient target-date',
  Group: '',
  Immunization: '_id date patient status',
  Location: '_id address address-city address-postalcode address-state name',
  Medication: '',
  MedicationRequest: 'authoredon encounter intent patient',
};

interface Statement {
  readonly rest: readonly [
    {
      readonly resource: readonly {
        readonly type: string;
        readonly interaction: readonly { readonly code: string }[];
        readonly searchParam?: readonly { readonly name: string; readonly type: string; readonly definition: string }[];
      }[];
    },
  ];
}

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 1 });
});
afterAll(() => demo.close());

test.each(Object.entries(SPEC))('%s can be searched by: %s', async (type, listed) => {
  const statement = demo.facade.capabilities({ base: 'http://127.0.0.1/fhir' }) as Statement;
  const entry = statement.rest[0].resource.find(resource => resource.type === type);
  expect(entry?.interaction.map(({ code }) => code)).toEqual(['read', 'search-type']);
  const stated = new Map(entry?.searchParam?.map(parameter => [parameter.name, parameter]));
  for (const code of listed.split(' ').filter(name => name !== '')) {
    const offered = demo.facade.offers.find(type, code);
    expect(offered?.parameter.code, code).toBe(code);
    expect(stated.get(code), code).toMatchObject({ type: offered?.parameter.type, definition: offered?.parameter.url });
    const value = offered?.parameter.type === 'date' ? 'ge2020-01-01' : 'x';
    await demo.facade.search(
      { type, parameters: [[code, value]] },
      { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' },
    );
  }
});
