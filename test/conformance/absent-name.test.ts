/**
 * A patient without a name: us-core-6 requires a name or the reason for its absence.
 * https://hl7.org/fhir/us/core/STU6.1/StructureDefinition-us-core-patient.html
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { validateResource } from '../../src/validation/validator.ts';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

const ABSENT = { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' };
const BASE = 'http://127.0.0.1/fhir/';

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo(['Patient']);
});
afterAll(() => demo.close());

const nameless = (): Resource & { readonly name?: unknown } => {
  const found = demo.resources.get('Patient')?.find(({ id }) => id === '29');
  if (!found) throw new Error('the demo has nobody without a name');
  return found;
};

async function ids(query: string): Promise<readonly string[]> {
  const response = await demo.app.request(`${BASE}${query}`, { headers: { Prefer: 'handling=strict' } });
  expect(response.status, query).toBe(200);
  const { entry = [] } = (await response.json()) as { entry?: readonly { readonly resource: Resource }[] };
  return entry.map(({ resource }) => resource.id);
}

test('a missing name has the data-absent-reason, and the resource is valid by its profile', () => {
  expect(nameless()).toMatchObject({
    name: [{ extension: [ABSENT] }],
    gender: 'male',
    meta: { profile: ['http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient'] },
  });
  expect(nameless()).not.toHaveProperty('birthDate');
  expect(validateResource(nameless())).toEqual([]);
});

test('without the reason the resource is invalid', () => {
  expect(validateResource({ ...nameless(), name: [{}] }).join('\n')).toMatch(/us-core-6|name/);
  const { name: _, ...rest } = nameless();
  expect(validateResource(rest as Resource)).not.toEqual([]);
});

test('the extension is in the XML, too, in its position', async () => {
  const response = await demo.app.request(`${BASE}Patient/29`, { headers: { Accept: 'application/fhir+xml' } });
  expect(await response.text()).toContain(
    `<name><extension url="${ABSENT.url}"><valueCode value="unknown"/></extension></name><gender`,
  );
});

describe('searches', () => {
  test.each(['family:missing=true', 'given:missing=true', 'birthdate:missing=true'])('%s finds them', async query => {
    expect(await ids(`Patient?${query}`)).toContain('29');
  });

  test('the placeholder for a missing name is not found as a name', async () => {
    for (const query of ['name=UNK', 'family=UNK', 'family:exact=UNK', 'name:contains=UNK'])
      expect(await ids(`Patient?${query}`)).not.toContain('29');
  });

  test('the patient has visits and measurements', async () => {
    expect((await ids('Encounter?patient=29&class=EMER')).length).toBe(1);
    expect((await ids('Observation?patient=29&category=laboratory')).length).toBeGreaterThan(5);
  });
});
