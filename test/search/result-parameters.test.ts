/** Result parameters, on the demo. https://hl7.org/fhir/R4/search.html#return */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { elementsOf } from '../../src/r4/definitions.ts';
import { cursorCodec } from '../../src/search/cursor.ts';
import type { Offered } from '../../src/search/offers.ts';
import { emptyResult, readResultParameter } from '../../src/search/result-parameters.ts';
import type { ParseContext } from '../../src/search/values.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Parameters } from '../operations/pages.ts';

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string }[];
  readonly entry?: readonly { readonly resource: Readonly<Record<string, unknown>> }[];
}

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 4 });
});
afterAll(() => demo.close());

const search = async (type: string, parameters: Parameters): Promise<Bundle> =>
  JSON.parse((await demo.facade.search({ type, parameters }, CONTEXT)).json);

const elements = ({ entry = [] }: Bundle): readonly string[] => [
  ...new Set(entry.flatMap(({ resource }) => Object.keys(resource))),
];
const isTagged = ({ entry = [] }: Bundle): boolean => JSON.stringify(entry).includes('"SUBSETTED"');

test.each([
  ['_sort:desc', '_id'],
  ['_elements:not', 'status'],
  ['_summary:data', 'true'],
  ['_count:exact', '1'],
  ['_total:missing', 'none'],
])('%s is refused, as ignoring a modifier would change the search', async (name, value) => {
  await expect(search('CarePlan', [[name, value]])).rejects.toMatchObject({ code: 'not-supported' });
});

test.each(['patient', 'Observation.patient', 'Observation'])(
  'an include with the syntax %s is refused with the right syntax',
  async value => {
    for (const name of ['_include', '_revinclude'])
      await expect(search('Observation', [[name, value]])).rejects.toThrow(
        `${name} names a type and its reference, as Type:reference or Type:*`,
      );
  },
);

test('a _count is any whole number: a large one is capped, whatever its digits', async () => {
  const whole = await search('Patient', [['_count', '1000']]);
  for (const large of ['999999999', '1000000000', '9999999999', `${'0'.repeat(20)}50`, '9'.repeat(4000)])
    expect((await search('Patient', [['_count', large]])).entry?.length, large.slice(0, 30)).toBe(whole.entry?.length);
  for (const wrong of ['-1', ' ', '1.5', '1e3', '+1', ' 5', '٣', '0x10'])
    await expect(search('Patient', [['_count', wrong]]), wrong).rejects.toMatchObject({ code: 'value' });
  await expect(search('Patient', [['_count', '9'.repeat(4001)]])).rejects.toMatchObject({ code: 'too-costly' });
});

test("the spelling of HAPI's client, _total=estimated, is an estimate unless handling is strict", async () => {
  const asked = { type: 'Patient', parameters: [['_total', 'estimated'] as const, ['_count', '1'] as const] };
  const { json } = await demo.facade.search(asked, { ...CONTEXT, handling: 'lenient' });
  expect(JSON.parse(json)).toMatchObject({ total: 4, entry: [{ search: { mode: 'match' } }] });
  await expect(demo.facade.search(asked, { ...CONTEXT, handling: 'strict' })).rejects.toMatchObject({ code: 'value' });
  await expect(search('Patient', [['_total', 'about']])).rejects.toThrow('none, estimate or accurate');
});

test('a sort key that cannot sort is refused with the reason and the keys that can', async () => {
  const sorted = (code: string) => search('Observation', [['_sort', code]]);
  await expect(sorted('nope')).rejects.toThrow(
    'Observation cannot be sorted by nope: it is no search parameter here; offered: _id',
  );
  await expect(sorted('code-value-quantity')).rejects.toThrow(
    'by code-value-quantity: it has no order of its own, as code and value-quantity have; offered',
  );
  const date = demo.facade.offers.find('Observation', 'date');
  const find = (): Offered | undefined => date && { ...date, sortable: false };
  const context: ParseContext = {
    offers: { ...demo.facade.offers, find },
    handling: 'strict',
    zone: { toInstant: local => local },
    base: CONTEXT.base,
    caller: '',
    cursors: cursorCodec(new Uint8Array(32)),
    pageSize: 1,
    pageMax: 1,
  };
  expect(() => readResultParameter(emptyResult(['Observation'], 1), ['Observation'], '_sort', 'date', context)).toThrow(
    'by date: its values have no order that one statement of the database could give',
  );
});

test('an include of a source, reference or target type that does not exist is refused', async () => {
  const message = (text: string) => search('Observation', [['_include', text]]).then(String, ({ message }) => message);
  expect(await message('Observation:subject:Pateint')).toMatch(/Pateint/);
  expect(await message('Observation:code')).toMatch(/no reference code/);
  expect(await message('Obs:subject')).toMatch(/no Obs resources/);
  // A questionnaire's canonical URL, which is no reference to it.
  const questionnaire: Parameters = [['_include', 'QuestionnaireResponse:questionnaire']];
  await expect(search('QuestionnaireResponse', questionnaire)).rejects.toMatchObject({ code: 'not-supported' });
  await expect(search('Questionnaire', [['_revinclude', 'QuestionnaireResponse:questionnaire']])).rejects.toMatchObject(
    {
      code: 'not-supported',
    },
  );
  // A possible target type that is not served.
  expect(await message('Observation:subject:Group')).toBe('[object Object]');
});

test('includes of one search are bounded, both kinds together', async () => {
  const some = (name: string, count: number, value: string) =>
    Array.from({ length: count }, () => [name, value] as const);
  const includes = some('_include', 20, 'Observation:subject');
  await expect(search('Observation', includes)).resolves.toBeDefined();
  for (const more of ['_include', '_revinclude']) {
    const value = more === '_include' ? 'Observation:encounter' : 'Provenance:target';
    await expect(search('Observation', [...includes, [more, value]]), more).rejects.toMatchObject({
      code: 'too-costly',
    });
  }
  await expect(search('Observation', some('_revinclude', 21, 'Provenance:target'))).rejects.toMatchObject({
    code: 'too-costly',
  });
});

test('_include=Encounter:* brings nothing to a search of Observation', async () => {
  const found = await search('Observation', [
    ['_include', 'Encounter:*'],
    ['_count', '5'],
  ]);
  expect(new Set(found.entry?.map(({ resource }) => resource['resourceType']))).toEqual(new Set(['Observation']));
});

test('_elements accepts a choice element by its name with and without the type', async () => {
  const both = await Promise.all(
    ['effective', 'effectiveDateTime'].map(name =>
      search('Observation', [
        ['_elements', name],
        ['_count', '20'],
      ]),
    ),
  );
  const [base, typed] = both.map(({ entry = [] }) => entry.map(({ resource }) => resource['effectiveDateTime']));
  expect(base?.filter(one => one !== undefined).length).toBeGreaterThan(0);
  expect(typed).toEqual(base);
  await expect(search('Observation', [['_elements', 'effectiveQuantity']])).rejects.toMatchObject({ code: 'value' });
});

test('_elements may name resourceType, which is always there, as fhirpy does', async () => {
  const [named, alone] = await Promise.all(
    ['name,id,resourceType', 'name'].map(value => search('Patient', [['_elements', value]])),
  );
  expect(named?.entry).toEqual(alone?.entry);
  const [only, id] = await Promise.all(['resourceType', 'id'].map(value => search('Patient', [['_elements', value]])));
  expect(only?.entry).toEqual(id?.entry);
});

test('several _elements are combined', async () => {
  const found = await search('Patient', [
    ['_elements', 'name'],
    ['_elements', 'gender,birthDate'],
  ]);
  for (const name of ['name', 'gender', 'birthDate']) expect(elements(found)).toContain(name);
  expect(elements(found)).not.toContain('address');
});

test.each(['text', 'true', 'data', 'false'])('_elements with _summary=%s are added, in either order', async mode => {
  const summary: Parameters = [['_summary', mode]];
  const named: Parameters = [
    ['_elements', 'period'],
    ['_elements', 'contributor'],
  ];
  const [both, reversed] = await Promise.all([
    search('CarePlan', [...summary, ...named]),
    search('CarePlan', [...named, ...summary]),
  ]);
  expect(reversed.entry).toEqual(both.entry);
  const alone = mode === 'false' ? named : summary;
  const expected = new Set([...elements(await search('CarePlan', alone)), 'period']);
  expect(new Set(elements(both))).toEqual(expected);
  expect(isTagged(both)).toBe(true);
});

describe('_summary', () => {
  test('true gives the summary elements with the SUBSETTED tag', async () => {
    const summary = new Set(
      elementsOf('CarePlan')
        .filter(({ isSummary, min }) => isSummary || min > 0)
        .map(({ name }) => name),
    );
    const found = await search('CarePlan', [['_summary', 'true']]);
    expect(
      elements(found).filter(name => !summary.has(name) && !['resourceType', 'id', 'meta'].includes(name)),
    ).toEqual([]);
    expect(isTagged(found)).toBe(true);
  });

  test('text gives narrative and mandatory elements, data all but the narrative, false everything', async () => {
    const text = await search('CarePlan', [['_summary', 'text']]);
    expect(elements(text)).toContain('text');
    expect(elements(text)).not.toContain('period');
    const data = await search('CarePlan', [['_summary', 'data']]);
    expect(elements(data)).not.toContain('text');
    const whole = await search('CarePlan', [['_summary', 'false']]);
    expect([...elements(whole)].toSorted()).toEqual([...elements(data), 'text'].toSorted());
    expect([text, data, whole].map(isTagged)).toEqual([true, true, false]);
  });

  test('count gives the total alone, in any position and with any _count', async () => {
    const total = (await search('CarePlan', [['_total', 'accurate']])).total;
    expect(total).toBeGreaterThan(1);
    const orders: readonly Parameters[] = [
      [
        ['_summary', 'count'],
        ['_count', '1'],
      ],
      [
        ['_count', '1'],
        ['_summary', 'count'],
      ],
      [['_count', '0']],
      [
        ['_total', 'none'],
        ['_summary', 'count'],
      ],
    ];
    for (const parameters of orders) {
      const found = await search('CarePlan', parameters);
      expect(found.total).toBe(total);
      expect(found.entry).toBeUndefined();
      expect(found.link.map(({ relation }) => relation)).toEqual(['self']);
    }
  });
});

describe('_total', () => {
  test.each([
    ['none', undefined],
    ['estimate', 'exact'],
    ['accurate', 'exact'],
  ])('%s', async (asked, expected) => {
    const { total } = await search('Observation', [
      ['_total', asked],
      ['_count', '1'],
      ['patient', '1'],
    ]);
    const { count } = await all('Observation', [
      ['patient', '1'],
      ['_elements', 'id'],
      ['_count', '1000'],
    ]);
    expect(total).toBe(expected && count);
  });

  const all = async (type: string, parameters: Parameters) => {
    const { matches } = await allPages(page => demo.facade.search({ type, parameters: page }, CONTEXT), parameters);
    return { count: matches.length };
  };
});

describe('parameters of every resource', () => {
  test.each(['Observation', 'Patient', 'Organization', 'Media', 'ValueSet'])(
    '%s has no tags, and accepts searches by tag, security label and profile',
    async type => {
      expect((await search(type, [['_tag', 'urn:none|none']])).total).toBe(0);
      expect((await search(type, [['_security', 'urn:none|none']])).total).toBe(0);
      expect((await search(type, [['_profile', 'urn:none']])).total).toBe(0);
      const total = (await search(type, [['_summary', 'count']])).total;
      expect(
        (
          await search(type, [
            ['_security:not', 'urn:none|none'],
            ['_summary', 'count'],
          ])
        ).total,
      ).toBe(total);
    },
  );

  test('security labels are searched', async () => {
    const label = 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality|N';
    const named =
      (
        await search('Patient', [
          ['_security', label],
          ['_summary', 'count'],
        ])
      ).total ?? 0;
    const others =
      (
        await search('Patient', [
          ['_security:not', label],
          ['_summary', 'count'],
        ])
      ).total ?? 0;
    expect(named).toBeGreaterThan(0);
    expect(named + others).toBe((await search('Patient', [['_summary', 'count']])).total);
  });

  test('_contained=true is refused, and _contained=false is the default', async () => {
    const whole = await search('Patient', []);
    expect(
      await search('Patient', [
        ['_contained', 'false'],
        ['_containedType', 'container'],
      ]),
    ).toEqual({ ...whole, link: expect.anything() });
    for (const text of ['true', 'both'])
      await expect(search('Patient', [['_contained', text]])).rejects.toMatchObject({
        code: 'not-supported',
        issues: [{ expression: 'http._contained' }],
      });
    await expect(search('Patient', [['_contained', 'maybe']])).rejects.toMatchObject({ code: 'value' });
    await expect(search('Patient', [['_containedType', 'maybe']])).rejects.toMatchObject({ code: 'value' });
  });
});

describe("the server's own resources", () => {
  test('are paged', async () => {
    const pages = await allPages(
      page => demo.facade.search({ type: 'ValueSet', parameters: page }, CONTEXT),
      [['_count', '7']],
    );
    const whole = await allPages(
      page => demo.facade.search({ type: 'ValueSet', parameters: page }, CONTEXT),
      [['_count', '1000']],
    );
    expect(pages.count).toBeGreaterThan(3);
    expect(whole.count).toBe(1);
    expect(namesOf(pages.matches)).toEqual(namesOf(whole.matches));
    expect(pages.total).toBe(whole.matches.length);
  });

  test('support _elements and _summary, in reads too', async () => {
    const found = await search('ValueSet', [
      ['_elements', 'url'],
      ['_count', '2'],
    ]);
    expect([...elements(found)].toSorted()).toEqual(['id', 'meta', 'resourceType', 'status', 'url']);
    expect(isTagged(found)).toBe(true);
    const read = await demo.facade.read('OperationDefinition', 'docref', [['_summary', 'true']], CONTEXT);
    expect(Object.keys(JSON.parse(read?.json ?? '{}'))).not.toContain('parameter');
  });
});
