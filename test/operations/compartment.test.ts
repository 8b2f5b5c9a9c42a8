import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Pages, type Parameters } from './pages.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
});
afterAll(() => demo.close());

const inside = (id: string, type: string, parameters: Parameters = [], compartment = 'Patient'): Promise<Pages> =>
  allPages(page => demo.facade.searchCompartment({ compartment, id, type, parameters: page }, CONTEXT), parameters);

const search = (type: string, parameters: Parameters): Promise<Pages> =>
  allPages(page => demo.facade.search({ type, parameters: page }, CONTEXT), parameters);

describe('a search in the compartment of a patient', () => {
  test('finds the resources that refer to the patient, with compartment URLs as links', async () => {
    const found = await inside('1', 'Encounter', [['_count', '9']]);
    expect(found.count).toBeGreaterThan(2);
    expect(namesOf(found.matches)).toEqual(namesOf((await search('Encounter', [['patient', '1']])).matches));
    for (const url of found.next) expect(url).toContain('/fhir/Patient/1/Encounter?_count=9&_cursor=');
    const finished = await inside('1', 'Encounter', [['status', 'finished']]);
    expect(namesOf(finished.matches)).toEqual(
      namesOf(
        (
          await search('Encounter', [
            ['patient', '1'],
            ['status', 'finished'],
          ])
        ).matches,
      ),
    );
  });

  test('with * covers all types of the compartment, and no others', async () => {
    const { matches } = await inside('1', '*', [
      ['_lastUpdated', 'ge2026-01-01'],
      ['_count', '500'],
    ]);
    const types = new Set(matches.map(({ resourceType }) => resourceType));
    expect(types.size).toBeGreaterThan(3);
    for (const type of ['Organization', 'Practitioner', 'Location', 'Medication']) expect(types).not.toContain(type);
  });

  test('covers the types in _type, or those that have the parameters', async () => {
    const named = await inside('1', '*', [['_type', 'Condition,Encounter']]);
    expect(new Set(named.matches.map(({ resourceType }) => resourceType))).toEqual(new Set(['Condition', 'Encounter']));
    const asked = await inside('1', '*', [['clinical-status', 'active']]);
    const types = ['AllergyIntolerance', 'Condition'];
    expect(types).toEqual(expect.arrayContaining(asked.matches.map(({ resourceType }) => resourceType)));
    const each = types.map(type => inside('1', type, [['clinical-status', 'active']]));
    expect(namesOf(asked.matches)).toEqual((await Promise.all(each)).flatMap(({ matches }) => namesOf(matches)));
    await expect(inside('1', '*', [['_type', 'Organization']])).rejects.toMatchObject({ code: 'not-supported' });
  });

  test.each([
    ['1', 'Organization', 'Patient', 'not-supported'],
    ['1', 'Nothing', 'Patient', 'not-found'],
    ['1', '__proto__', 'Patient', 'not-found'],
    ['1', 'Condition', 'Encounter', 'not-found'],
    ['nobody', 'Condition', 'Patient', 'not-found'],
  ])('%s/%s of %s is refused', async (id, type, compartment, code) => {
    await expect(inside(id, type, [], compartment)).rejects.toMatchObject({ code });
  });
});
