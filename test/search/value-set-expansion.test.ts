import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Parameters } from '../operations/pages.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
});
afterAll(() => demo.close());

const found = async (type: string, ...parameters: Parameters): Promise<readonly string[]> => {
  const asked: Parameters = [...parameters, ['_count', '1000'], ['_elements', 'id']];
  return namesOf(
    (await allPages(page => demo.facade.search({ type, parameters: page }, CONTEXT), asked)).matches,
  ).toSorted();
};

interface Compose {
  readonly include: readonly { readonly system: string; readonly concept: readonly { readonly code: string }[] }[];
}

const escaped = (text: string): string => text.replace(/[\\,|$]/g, '\\$&');

describe('value sets', () => {
  const STATUS = 'http://hl7.org/fhir/ValueSet/observation-status';
  const VITALS = 'http://hl7.org/fhir/us/core/ValueSet/us-core-vital-signs';

  test(':in and :not-in are complementary, and resources without the element are :not-in', async () => {
    const all = await found('Observation');
    const inside = await found('Observation', ['code:in', VITALS]);
    const outside = await found('Observation', ['code:not-in', VITALS]);
    expect(inside.length).toBeGreaterThan(0);
    expect(outside.length).toBeGreaterThan(0);
    expect([...inside, ...outside].toSorted()).toEqual(all);
    expect(await found('Observation', ['data-absent-reason:not-in', STATUS])).toEqual(all);
  });

  test(':in finds the codes of a value set, from any code map, and :not-in the rest', async () => {
    const sets = JSON.parse(
      (await demo.facade.search({ type: 'ValueSet', parameters: [['_count', '1000']] }, CONTEXT)).json,
    );
    const own = (sets.entry as readonly { resource: { title: string; url: string; compose: Compose } }[]).map(
      ({ resource }) => resource,
    );
    for (const [type, parameter, title] of [
      ['Encounter', 'class', undefined],
      ['Condition', 'category', undefined],
      ['Condition', 'verification-status', undefined],
      ['AllergyIntolerance', 'clinical-status', 'allergy-clinical'],
    ] as const) {
      const all = await found(type);
      let some = 0;
      for (const { url, compose } of own.filter(one => title === undefined || one.title === title)) {
        const tokens = compose.include.flatMap(({ system, concept }) =>
          concept.map(({ code }) => `${escaped(system)}|${escaped(code)}`),
        );
        if (tokens.length > 100) continue;
        const inside = await found(type, [`${parameter}:in`, url]);
        expect(inside, `${type} ${parameter} ${url}`).toEqual(await found(type, [parameter, tokens.join()]));
        const outside = await found(type, [`${parameter}:not-in`, url]);
        expect([...inside, ...outside].toSorted()).toEqual(all);
        if (inside.length > 0) some++;
      }
      expect(some, type).toBeGreaterThan(0);
    }
  });

  test('a code element is in the value set that it is bound to', async () => {
    expect(await found('Observation', ['status:in', STATUS])).toEqual(await found('Observation'));
    expect(await found('Observation', ['status:in', 'http://hl7.org/fhir/ValueSet/goal-status'])).toEqual([]);
  });

  test('value sets of code maps are resources, and can be named with a version and in chains', async () => {
    const sets = JSON.parse(
      (await demo.facade.search({ type: 'ValueSet', parameters: [['_count', '1000']] }, CONTEXT)).json,
    );
    const all: readonly {
      url: string;
      title: string;
      compose: { include: { system: string; concept: { code: string }[] }[] };
    }[] = sets.entry.map(({ resource }: { resource: unknown }) => resource);
    const clinical = all.find(({ title }) => title === 'allergy-clinical');
    if (!clinical) throw new Error('Expected the code map of the states of allergies');
    expect(clinical.url).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const codes = clinical.compose.include.flatMap(({ concept }) => concept.map(({ code }) => code));
    const named = await found('AllergyIntolerance', ['clinical-status', codes.join()]);
    expect(named.length).toBeGreaterThan(0);
    expect(await found('AllergyIntolerance', ['clinical-status:in', `${clinical.url}|1`])).toEqual(named);
    const chained = await found('Patient', ['_has:AllergyIntolerance:patient:clinical-status:in', clinical.url]);
    expect(chained).toEqual(await found('Patient', ['_has:AllergyIntolerance:patient:clinical-status', codes.join()]));
  });

  test.each(['http://example.org/ValueSet/none', 'http://hl7.org/fhir/ValueSet/condition-code', '__proto__'])(
    'an unknown value set is refused without repeating it: %s',
    async url => {
      for (const name of ['code:in', 'code:not-in', 'patient:Patient.gender:in', '_has:Condition:encounter:code:in']) {
        const type = name.startsWith('_has') ? 'Encounter' : 'Observation';
        const refused = expect(found(type, [name, url])).rejects;
        await refused.toMatchObject({ code: 'not-supported', issues: [{ severity: 'error' }] });
        await refused.not.toThrow(url);
      }
    },
  );
});

describe('codes above and below others', () => {
  const CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';

  test(':below and :above search a code with its descendants or ancestors', async () => {
    const below = await found('Condition', ['clinical-status:below', `${CLINICAL}|active`]);
    expect(below).toEqual(await found('Condition', ['clinical-status', 'active,recurrence,relapse']));
    expect(await found('Condition', ['clinical-status:below', 'active'])).toEqual(below);
    const above = await found('Condition', ['clinical-status:above', `${CLINICAL}|resolved`]);
    expect(above).toEqual(await found('Condition', ['clinical-status', 'resolved,inactive']));
    expect(await found('Observation', ['status:below', 'amended'])).toEqual(
      await found('Observation', ['status', 'amended,corrected']),
    );
  });

  test('a hierarchy of the pack is used like any other', async () => {
    const ICD = 'http://hl7.org/fhir/sid/icd-10-cm';
    const diabetes = await found('Condition', ['code:below', `${ICD}|E11`]);
    expect(diabetes.length).toBeGreaterThan(0);
    expect(diabetes).toEqual(await found('Condition', ['code', `${ICD}|E11.9`]));
    expect(await found('Condition', ['code', `${ICD}|E11`])).toEqual([]);
    expect(await found('Condition', ['code:below', 'E11'])).toEqual(diabetes);
    expect(await found('Condition', ['code:above', `${ICD}|E11.9`])).toEqual(diabetes);
    expect(await found('Condition', ['code:above', `${ICD}|E11`])).toEqual([]);
    const chained = await found('Patient', ['_has:Condition:patient:code:below', `${ICD}|E11`]);
    expect(chained).toEqual(await found('Patient', ['_has:Condition:patient:code', `${ICD}|E11.9`]));
    for (const unknown of [`${ICD}|Z99.9`, 'http://hl7.org/fhir/sid/icd-9-cm|E11'])
      await expect(found('Condition', ['code:below', unknown])).rejects.toMatchObject({ code: 'not-supported' });
  });

  test.each(['http://loinc.org|8302-2', 'nothing', `${CLINICAL}|nothing`, `${CLINICAL}|`])(
    'without a hierarchy the search is refused: %s',
    async text => {
      await expect(found('Condition', ['code:below', text])).rejects.toMatchObject({ code: 'not-supported' });
    },
  );
});

test('a URL is above another if it is a prefix of its path', async () => {
  const sets = JSON.parse((await demo.facade.search({ type: 'ValueSet', parameters: [] }, CONTEXT)).json);
  const [{ resource }] = sets.entry as readonly [{ resource: { id: string; url: string } }];
  const name = `ValueSet/${resource.id}`;
  expect(await found('ValueSet', ['url:above', resource.url])).toEqual([name]);
  expect(await found('ValueSet', ['url:above', `${resource.url}x`])).toEqual([]);
  const profile = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient';
  const patients = await found('Patient', ['_profile', profile]);
  expect(patients.length).toBeGreaterThan(0);
  expect(await found('ValueSet', ['url:above', `${resource.url}/further`])).toEqual([name]);
  expect(await found('Patient', ['_profile:above', `${profile}/further/on`])).toEqual(patients);
  expect(await found('Patient', ['_profile:above', `${profile}/`])).toEqual(patients);
  expect(await found('Patient', ['_profile:above', 'http://hl7.org/fhir/us/core'])).toEqual([]);
  expect(await found('Patient', ['_profile:below', 'http://hl7.org/fhir/us/core'])).toEqual(patients);
});

describe('identifiers', () => {
  const TYPES = 'http://terminology.hl7.org/CodeSystem/v2-0203';

  test(':of-type matches type and value of one identifier', async () => {
    expect(await found('Patient', ['identifier:of-type', `${TYPES}|MR|1000003`])).toEqual(['Patient/1']);
    expect(await found('Patient', ['identifier:of-type', `${TYPES}|SS|1000003`])).toEqual([]);
    expect(await found('Patient', ['identifier:of-type', 'urn:other|MR|1000003'])).toEqual([]);
    for (const text of ['MR|1000003', `${TYPES}|MR|`, `${TYPES}||1000003`, 'a|b|c|d'])
      await expect(found('Patient', ['identifier:of-type', text])).rejects.toMatchObject({ code: 'value' });
  });

  test(':identifier matches the identifier of the reference, and is offered if one is mapped', async () => {
    const pages = await allPages(page => demo.facade.search({ type: 'Immunization', parameters: page }, CONTEXT), []);
    const identifiers = (
      pages.matches as unknown as readonly { manufacturer?: { identifier?: { system: string; value: string } } }[]
    ).flatMap(({ manufacturer }) => manufacturer?.identifier ?? []);
    const [one] = identifiers;
    if (!one) throw new Error('Expected a manufacturer with an identifier');
    const own = await found('Immunization', ['manufacturer:identifier', `${one.system}|${one.value}`]);
    expect(own.length).toBeGreaterThan(0);
    expect(await found('Immunization', ['manufacturer:identifier', one.value])).toEqual(own);
    expect(await found('Immunization', ['manufacturer:identifier', `urn:other|${one.value}`])).toEqual([]);
    await expect(found('Encounter', ['subject:identifier', 'x'])).rejects.toMatchObject({
      code: 'not-supported',
      message: 'modifier of subject:identifier is not supported; offered: :missing',
    });
  });
});
