import { expect, test } from 'vitest';
import { NO_RULES } from '../../src/auth/rules.ts';
import type { Facade } from '../../src/facade.ts';
import { chartsOf } from '../../src/smart/charts.ts';

interface Visit {
  readonly id: string;
  readonly type?: readonly object[];
  readonly period?: object;
}

/** The list of these visits on a page. */
function listOf(visits: readonly Visit[]) {
  const facade = {
    registry: { types: ['Encounter'] },
    offers: { find: () => ({}) },
    search: async ({ parameters }: Parameters<Facade['search']>[0]) => {
      const count = Number(parameters.find(([name]) => name === '_count')?.[1]);
      return { json: JSON.stringify({ entry: visits.slice(0, count).map(resource => ({ resource })) }) };
    },
  } as unknown as Facade;
  const options = { facade: () => facade, rules: () => NO_RULES, fhirBase: 'http://x/fhir', timeLimit: 10_000 };
  const doctor = { name: 'doctor', password: '', disabled: false, fhirUser: 'Practitioner/1' };
  return chartsOf(options, '192.0.2.1').encounters(doctor, '1');
}

test('a visit is listed by the text of its type, else by what its codes display, else by its id', async () => {
  const visits = [
    { id: '1', type: [{ text: 'Home visit', coding: [{ display: 'Visit' }] }] },
    { id: '2', type: [{ coding: [{}, { display: 'Ward' }] }], period: { start: '2026-01-02T10:00:00Z' } },
    { id: '3' },
  ];
  expect(await listOf(visits)).toEqual({
    items: [
      { id: '1', label: 'Home visit' },
      { id: '2', label: 'Ward', date: '2026-01-02' },
      { id: '3', label: '3' },
    ],
    more: false,
  });
});

test('a page lists 20 visits, and says whether there are more', async () => {
  const visits = Array.from({ length: 25 }, (_, i) => ({ id: String(i) }));
  for (const [count, shown, more] of [
    [19, 19, false],
    [20, 20, false],
    [21, 20, true],
    [25, 20, true],
  ] as const) {
    const found = await listOf(visits.slice(0, count));
    expect([found.items.length, found.more]).toEqual([shown, more]);
  }
});
