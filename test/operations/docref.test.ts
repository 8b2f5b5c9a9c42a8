import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Pages, type Parameters, type Resource } from './pages.ts';

type Document = Resource & { readonly date?: string; readonly status: string };

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 4 });
});
afterAll(() => demo.close());

const docref = (parameters: Parameters, handling: 'strict' | 'lenient' = 'strict'): Promise<Pages> => {
  const operation = demo.facade.recordOperations.find(({ code }) => code === 'docref');
  if (!operation) throw new Error('Expected $docref to be offered');
  return allPages(page => demo.facade.operate(operation, undefined, page, { ...CONTEXT, handling }), parameters);
};

const search = (parameters: Parameters): Promise<Pages> =>
  allPages(page => demo.facade.search({ type: 'DocumentReference', parameters: page }, CONTEXT), parameters);

const sorted = (pages: Pages): readonly string[] => namesOf(pages.matches).toSorted();

describe('$docref', () => {
  test('without dates finds the current documents of the patient, the newest first', async () => {
    const found = await docref([
      ['patient', '1'],
      ['_count', '7'],
    ]);
    expect(found.count).toBeGreaterThan(2);
    expect(sorted(found)).toEqual(
      sorted(
        await search([
          ['patient', '1'],
          ['status', 'current'],
        ]),
      ),
    );
    const dates = (found.matches as readonly Document[]).map(({ date }) => Date.parse(date ?? '0000'));
    expect(dates).toEqual(dates.toSorted((a, b) => b - a));
    for (const url of found.next) expect(url).toContain('/fhir/DocumentReference/$docref?patient=1&');
  });

  test('type filters by code or by system and code', async () => {
    const all = (await docref([['patient', '1']])).matches as readonly (Document & {
      readonly type: { readonly coding: readonly { readonly system: string; readonly code: string }[] };
    })[];
    const coding = all.flatMap(({ type }) => type.coding)[0];
    const own = all.filter(({ type }) => type.coding.some(({ code }) => code === coding?.code));
    expect(own.length).toBeLessThan(all.length);
    for (const text of [`${coding?.code}`, `${coding?.system}|${coding?.code}`])
      expect(
        sorted(
          await docref([
            ['patient', 'Patient/1'],
            ['type', text],
          ]),
        ),
      ).toEqual(namesOf(own).toSorted());
    expect(
      (
        await docref([
          ['patient', '1'],
          ['type', 'http://loinc.org|0000-0'],
        ])
      ).matches,
    ).toEqual([]);
  });

  test('start and end exclude documents of earlier and later care', async () => {
    const range = await docref([
      ['patient', '1'],
      ['start', '2025-01-01'],
      ['end', '2025-12-31'],
    ]);
    const before = new Set(
      namesOf(
        (
          await search([
            ['patient', '1'],
            ['period', 'eb2025-01-01'],
          ])
        ).matches,
      ),
    );
    const after = new Set(
      namesOf(
        (
          await search([
            ['patient', '1'],
            ['period', 'sa2025-12-31'],
          ])
        ).matches,
      ),
    );
    const all = namesOf((await search([['patient', '1']])).matches);
    expect(before.size + after.size).toBeGreaterThan(0);
    expect(sorted(range)).toEqual(all.filter(name => !before.has(name) && !after.has(name)).toSorted());
  });

  test('on-demand=true generates no document', async () => {
    expect(
      (
        await docref([
          ['patient', '1'],
          ['on-demand', 'true'],
        ])
      ).matches,
    ).toEqual([]);
    expect(
      (
        await docref([
          ['patient', '1'],
          ['on-demand', 'false'],
        ])
      ).matches.length,
    ).toBeGreaterThan(0);
  });

  test('a profile is ignored with a warning, and refused under strict handling', async () => {
    const asked: Parameters = [
      ['patient', '1'],
      ['profile', 'http://example.org/profile'],
    ];
    expect((await docref(asked, 'lenient')).warnings.join()).toContain('profile');
    await expect(docref(asked)).rejects.toMatchObject({ code: 'not-supported' });
  });

  test.each([
    [[], 'invalid', 'patient'],
    [
      [
        ['patient', '1'],
        ['patient', '2'],
      ],
      'invalid',
      'patient',
    ],
    [
      [
        ['patient', '1'],
        ['on-demand', 'maybe'],
      ],
      'value',
      'on-demand',
    ],
    [
      [
        ['patient', '1'],
        ['start', 'soon'],
      ],
      'value',
      'start',
    ],
    [
      [
        ['patient', '1'],
        ['colour', 'red'],
      ],
      'not-supported',
      'colour',
    ],
  ] as const)('unsupported parameters are refused by name: %s', async (parameters, code, name) => {
    await expect(docref(parameters)).rejects.toMatchObject({ code, issues: [{ expression: `http.${name}` }] });
  });
});
