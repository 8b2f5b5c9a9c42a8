import { expect, test } from 'vitest';
import { NO_RULES } from '../../src/auth/rules.ts';
import type { Facade } from '../../src/facade.ts';
import { chartsOf } from '../../src/smart/charts.ts';

test('a visit is listed by the text of its type, else by what its codes display, else by its id', async () => {
  const visits = [
    { id: '1', type: [{ text: 'Home visit', coding: [{ display: 'Visit' }] }] },
    { id: '2', type: [{ coding: [{}, { display: 'Ward' }] }], period: { start: '2026-01-02T10:00:00Z' } },
    { id: '3' },
  ];
  const facade = {
    registry: { types: ['Encounter'] },
    offers: { find: () => ({}) },
    search: async () => ({ json: JSON.stringify({ entry: visits.map(resource => ({ resource })) }) }),
  } as unknown as Facade;
  const options = { facade: () => facade, rules: () => NO_RULES, fhirBase: 'http://x/fhir', timeLimit: 10_000 };
  const doctor = { name: 'doctor', password: '', disabled: false, fhirUser: 'Practitioner/1' };
  expect(await chartsOf(options, '192.0.2.1').encounters(doctor, '1')).toEqual({
    items: [
      { id: '1', label: 'Home visit' },
      { id: '2', label: 'Ward', date: '2026-01-02' },
      { id: '3', label: '3' },
    ],
    more: false,
  });
});
