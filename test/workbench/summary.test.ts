/**
 * The line of a resource in the view *Search*.
 */
import { expect, test } from 'vitest';
import { summaryOf } from '../../src/workbench/page/search/summary.ts';

test('a summary has dates, values, codes and names first, in the order of the resource', () => {
  const identifier = [{ system: 'http://here.example', value: '17' }];
  const result = {
    ...{ resourceType: 'Observation', id: '1', identifier, status: 'final' },
    category: [{ coding: [{ code: 'laboratory' }] }],
    code: { coding: [{ code: '2345-7', display: 'Glucose' }] },
    ...{ subject: { reference: 'Patient/1' }, encounter: { reference: 'Encounter/1' } },
    ...{ effectiveDateTime: '2024-03-10T08:30:00+01:00', issued: '2024-03-11T09:00:00Z' },
    valueQuantity: { value: 5.4, unit: 'mmol/l' },
  };
  expect(summaryOf(result)).toBe(
    'category laboratory · code Glucose · effectiveDateTime 2024-03-10T08:30:00+01:00 · issued 2024-03-11T09:00:00Z · valueQuantity 5.4 mmol/l',
  );
  const person = {
    ...{ resourceType: 'Patient', id: '1', meta: {}, identifier, active: true, name: [{ family: 'Kowalski' }] },
    ...{ telecom: [{ value: '1' }], gender: 'female', birthDate: '1970-02-03' },
  };
  expect(summaryOf(person)).toBe('identifier 17 · active true · name Kowalski · telecom 1 · birthDate 1970-02-03');
  expect(summaryOf({ resourceType: 'Encounter', period: { start: '2024-01' } })).toBe('period 2024-01');
});
