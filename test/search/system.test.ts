/** A search over several types equals the searches on each of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/search/values.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Pages, type Parameters } from '../operations/pages.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
});
afterAll(() => demo.close());

const over = (parameters: Parameters, handling: 'strict' | 'lenient' = 'strict'): Promise<Pages> =>
  allPages(page => demo.facade.searchAll(page, { ...CONTEXT, handling }), parameters);

const each = async (types: readonly string[], parameters: Parameters): Promise<readonly string[]> => {
  const found = types.map(async type => {
    const pages = await allPages(page => demo.facade.search({ type, parameters: page }, CONTEXT), parameters);
    return namesOf(pages.matches);
  });
  return (await Promise.all(found)).flat();
};

test('values count once for each type: each is planned for all mappings of each', async () => {
  const types = demo.facade.offers.types.filter(type => demo.facade.offers.find(type, '_lastUpdated') !== undefined);
  const dates = (count: number) => Array.from({ length: count }, (_, i) => `gt20${10 + (i % 90)}`).join();
  const most = Math.floor(LIMITS.valuesOfTypes / types.length);
  const search = (count: number) =>
    demo.facade.searchAll(
      [
        ['_type', types.join()],
        ['_lastUpdated', dates(count)],
        ['_count', '1'],
      ],
      CONTEXT,
    );
  await expect(search(most + 1)).rejects.toThrow('more than 5000 values over all types');
  expect((await search(most)).entries).toBe(1);
});

describe('a search over types', () => {
  const TYPES = ['Condition', 'Encounter', 'Observation', 'Procedure'];

  test.each([
    [[['patient', '1']]],
    [
      [
        ['patient', '2'],
        ['_lastUpdated', 'ge2025-06-01'],
      ],
    ],
    [
      [
        ['patient.gender', 'female'],
        ['_lastUpdated', 'ge2026-03-01'],
      ],
    ],
    [[['_id', '1,2,lab-4']]],
    [[['patient:missing', 'true']]],
  ] as readonly [Parameters][])('finds what searches on each type find: %s', async parameters => {
    const pages = await over([['_type', TYPES.join()], ...parameters, ['_count', '90'], ['_total', 'accurate']]);
    const expected = await each(TYPES, parameters);
    expect(namesOf(pages.matches).toSorted()).toEqual(expected.toSorted());
    expect(pages.total).toBe(expected.length);
  });

  test('returns type by type, in the order of _type', async () => {
    for (const types of [
      ['Goal', 'Encounter'],
      ['Encounter', 'Goal'],
    ]) {
      const { matches } = await over([
        ['_type', types.join()],
        ['patient', '1'],
        ['_count', '11'],
      ]);
      expect([...new Set(matches.map(({ resourceType }) => resourceType))]).toEqual(types);
    }
  });

  test('merges sorted types across pages, with resources without a value last', async () => {
    for (const sort of ['_lastUpdated', '-_lastUpdated']) {
      const asked: Parameters = [
        ['_type', 'Encounter,Condition,Goal,Procedure'],
        ['patient', '1'],
        ['_sort', sort],
        ['_count', '9'],
      ];
      const { matches, count } = await over(asked);
      expect(count).toBeGreaterThan(5);
      const changed = matches.map(({ meta }) =>
        meta?.lastUpdated === undefined ? undefined : Date.parse(meta.lastUpdated),
      );
      const known = changed.filter(one => one !== undefined);
      expect(changed.slice(0, known.length)).toEqual(known.toSorted((a, b) => (sort.startsWith('-') ? b - a : a - b)));
      expect(new Set(matches.slice(0, 9).map(({ resourceType }) => resourceType)).size).toBeGreaterThan(1);
      expect(new Set(namesOf(matches)).size).toBe(matches.length);
    }
  });

  test('without _type covers the types with its parameters, and names the others', async () => {
    const able = demo.registry.types.filter(type => demo.facade.offers.find(type, '_lastUpdated'));
    const others = demo.registry.types.filter(type => !able.includes(type));
    expect(others.length).toBeGreaterThan(0);
    const asked: Parameters = [['_lastUpdated', 'ge2026-06-01']];
    const found = await over([...asked, ['_count', '500']]);
    expect(namesOf(found.matches).toSorted()).toEqual((await each(able, asked)).toSorted());
    for (const type of others) expect(found.warnings.join()).toContain(type);
    const patients = demo.registry.types.filter(type => demo.facade.offers.find(type, 'patient'));
    const own = await over([
      ['patient', '1'],
      ['_elements', 'id'],
      ['_count', '1000'],
    ]);
    expect(namesOf(own.matches).toSorted()).toEqual((await each(patients, [['patient', '1']])).toSorted());
    await expect(over([['colour', 'red']])).rejects.toMatchObject({ code: 'not-supported' });
  });

  test('without _type covers all mapped types', async () => {
    const found = await over([
      ['_id', '1'],
      ['_count', '5'],
    ]);
    expect(namesOf(found.matches).toSorted()).toEqual((await each(demo.registry.types, [['_id', '1']])).toSorted());
  });

  test('includes targets of matches of any type', async () => {
    const { matches, included } = await over([
      ['_type', 'Encounter,Condition'],
      ['patient', '1'],
      ['_include', 'Encounter:participant'],
      ['_count', '500'],
    ]);
    expect(new Set(matches.map(({ resourceType }) => resourceType))).toEqual(new Set(['Encounter', 'Condition']));
    expect(included.some(({ resourceType }) => resourceType === 'Practitioner')).toBe(true);
  });

  test('accepts elements that one of the types has', async () => {
    const { matches } = await over([
      ['_type', 'Patient,Location'],
      ['_elements', 'birthDate,name'],
      ['_count', '500'],
    ]);
    expect(matches.every(resource => !('gender' in resource))).toBe(true);
    expect(matches.some(resource => 'birthDate' in resource)).toBe(true);
  });

  test('accepts parameters of all its types; others are ignored with a warning, or refused', async () => {
    const asked: Parameters = [
      ['_type', 'Patient,Observation'],
      ['birthdate', 'ge1900'],
      ['_sort', '_lastUpdated,birthdate'],
      ['_count', '1000'],
    ];
    await expect(over(asked)).rejects.toMatchObject({ code: 'not-supported' });
    const lenient = await over(asked, 'lenient');
    expect(lenient.warnings.filter(text => text.includes('birthdate')).length).toBeGreaterThan(1);
    expect(lenient.matches.length).toBe((await each(['Patient', 'Observation'], [])).length);
  });

  test.each(['Nothing', 'Patient,Nothing', '', '__proto__', 'Patient,'])(
    'refuses a type that is not served: _type=%s',
    async types => {
      await expect(over([['_type', types]], 'lenient')).rejects.toMatchObject({
        code: 'not-supported',
        issues: [{ expression: 'http._type' }],
      });
    },
  );

  test.each<readonly [types: string, parameters: Parameters]>([
    ['ValueSet', []],
    ['OperationDefinition,ValueSet', []],
    ['ValueSet,Questionnaire,ConceptMap', [['url:missing', 'false']]],
    ['Questionnaire,ValueSet', [['_id', 'PHQ9,allergy-clinical']]],
    ['ValueSet,Goal', [['_sort', '_id']]],
    ['Location,ConceptMap,ValueSet', [['_sort', '-name']]],
    ['ConceptMap,Questionnaire', [['_sort', '-url,status']]],
  ])('includes built-in resources: _type=%s %j', async (types, parameters) => {
    const pages = await over([['_type', types], ...parameters, ['_count', '7'], ['_total', 'accurate']]);
    const expected = await each(types.split(','), parameters);
    expect(namesOf(pages.matches).toSorted()).toEqual(expected.toSorted());
    expect(pages.total).toBe(expected.length);
    expect(expected.length).toBeGreaterThan(1);
    if (parameters.some(([name]) => name === '_sort')) return;
    expect(namesOf(pages.matches)).toEqual(expected);
  });

  test('merges built-in resources into the order', async () => {
    for (const sort of ['url', '-url']) {
      const { matches } = await over([
        ['_type', 'ValueSet,Questionnaire,ConceptMap'],
        ['_sort', sort],
        ['_count', '9'],
      ]);
      const urls = matches.map(resource => (resource as unknown as { readonly url: string }).url);
      expect(urls).toEqual(urls.toSorted((a, b) => (a < b === (sort === 'url') ? -1 : 1)));
      const types = matches.map(({ resourceType }) => resourceType);
      expect(types.lastIndexOf('ValueSet')).toBeGreaterThan(types.indexOf('ConceptMap'));
      expect(new Set(types).size).toBe(3);
    }
  });

  test('finds built-in resources without _type', async () => {
    expect(namesOf((await over([['_id', 'docref,no-such']])).matches)).toEqual(['OperationDefinition/docref']);
  });

  test('a page link works for its own search only', async () => {
    const [link] = (
      await over([
        ['_type', 'Encounter,Condition'],
        ['_count', '5'],
      ])
    ).next;
    const cursor = new URL(link ?? '').searchParams.get('_cursor') ?? '';
    await expect(
      over([
        ['_type', 'Encounter,Goal'],
        ['_count', '5'],
        ['_cursor', cursor],
      ]),
    ).rejects.toMatchObject({ code: 'value' });
  });
});

test('lenient handling sorts every page by the known sort keys and warns about others', async () => {
  const asked: Parameters = [
    ['_sort', 'colour,-_lastUpdated,shape'],
    ['_count', '7'],
    ['patient', '1'],
  ];
  const context = { ...CONTEXT, handling: 'lenient' } as const;
  const search = (parameters: Parameters, handling: 'lenient' | 'strict' = 'lenient') =>
    demo.facade.search({ type: 'Encounter', parameters }, { ...context, handling });
  const pages = await allPages(page => search(page), asked);
  const known = await allPages(page => search(page), [['_sort', '-_lastUpdated'], ...asked.slice(1)]);
  expect(namesOf(pages.matches)).toEqual(namesOf(known.matches));
  for (const unknown of ['colour', 'shape']) expect(pages.warnings.join()).toContain(unknown);
  const { link } = JSON.parse((await search(asked)).json) as {
    readonly link: readonly { readonly relation: string; readonly url: string }[];
  };
  expect(link.find(({ relation }) => relation === 'self')?.url).toContain('_sort=-_lastUpdated&');
  await expect(search(asked, 'strict')).rejects.toMatchObject({ code: 'not-supported' });
});

test('a search with a value that is too long is refused', async () => {
  const parameters: Parameters = [['code', 'x'.repeat(LIMITS.valueLength + 1)]];
  await expect(demo.facade.search({ type: 'Observation', parameters }, CONTEXT)).rejects.toMatchObject({
    code: 'too-costly',
  });
});

describe('chains and _has together go no more ways than a search may take', () => {
  const times = (name: string, count: number): Parameters => Array.from({ length: count }, (_, i) => [name, `q${i}`]);
  const TYPES = 'Condition,Encounter,MedicationRequest,Observation,Procedure';

  test.each<[title: string, type: string | undefined, parameters: Parameters, refused: boolean]>([
    ['typed chains', 'Observation', times('subject:Patient.family', LIMITS.links - 1), false],
    ['chains by a reference to many types', 'Provenance', times('target.patient.family', 3), true],
    ['one of these', 'Provenance', times('target.patient.family', 1), false],
    ['_has', 'Observation', times('_has:Provenance:target:agent.name', 95), true],
    ['_has over several types', undefined, [['_type', TYPES], ...times('_has:Provenance:target:agent.name', 24)], true],
    ['chains over several types', undefined, [['_type', TYPES], ...times('patient.family', 21)], true],
    ['few of them', undefined, [['_type', TYPES], ...times('patient.family', 3)], false],
  ])('%s', async (_title, type, parameters, refused) => {
    const all: Parameters = [...parameters, ['_summary', 'count']];
    const asked =
      type === undefined ? demo.facade.searchAll(all, CONTEXT) : demo.facade.search({ type, parameters: all }, CONTEXT);
    if (refused)
      await expect(asked).rejects.toMatchObject({
        code: 'too-costly',
        message: expect.stringMatching(/more than 100 ways/),
      });
    else expect(JSON.parse((await asked).json)).toMatchObject({ total: 0 });
  });
});

test.each(['', ',', 'male,,female', 'male,'])(
  'the empty value in gender=%s is refused or ignored with a warning',
  async text => {
    const ask = (handling: 'lenient' | 'strict') =>
      demo.facade.search({ type: 'Patient', parameters: [['gender', text]] }, { ...CONTEXT, handling });
    await expect(ask('strict')).rejects.toMatchObject({ code: 'value' });
    expect((await ask('lenient')).json).toContain('the empty one was ignored');
  },
);
