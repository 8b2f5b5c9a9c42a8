import { expect, test } from 'vitest';
import { answering, indexedBy } from '../../src/law/oracle.ts';
import { searchParameterOf } from '../../src/r4/search-parameters.ts';

const UCUM = { system: 'http://unitsofmeasure.org', code: 'ug/mL' };

const culture = {
  resourceType: 'Observation',
  code: { coding: [{ code: 'culture' }] },
  component: [
    { code: { coding: [{ code: 'AMP' }] }, valueQuantity: { ...UCUM, value: 0.5, comparator: '<=' } },
    { code: { coding: [{ code: 'CIP' }] }, valueQuantity: { ...UCUM, value: 32, comparator: '>' } },
    { code: { coding: [{ code: 'VAN' }] }, valueQuantity: { ...UCUM, value: 4 } },
  ],
};

/** Whether a search finds the culture, by the reference implementation alone. */
function isFound(code: string, text: string): boolean {
  const parameter = searchParameterOf('Observation', code);
  if (parameter === undefined) throw new Error(`no parameter ${code}`);
  return answering({ parameter, text }, 'UTC', 0)(indexedBy(culture, parameter));
}

test.each([
  ['combo-value-quantity', 'gt100', true],
  ['combo-value-quantity', '4', true],
  ['combo-value-quantity', '32', false],
  ['combo-code-value-quantity', 'CIP$gt100', true],
  ['combo-code-value-quantity', 'VAN$gt100', false],
  ['combo-code', 'AMP', true],
])('values with comparators in several components: %s=%s', (code, text, found) => {
  expect(isFound(code, text)).toBe(found);
});
