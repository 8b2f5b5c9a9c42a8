import { expect, test } from 'vitest';
import type { Indexed } from '../../src/law/oracle-values.ts';
import { questionsFor } from '../../src/law/questions.ts';
import { searchParameterOf } from '../../src/r4/search-parameters.ts';
import type { Offered } from '../../src/search/offers.ts';
import { MODIFIERS } from '../../src/search/query.ts';

const SNOMED = 'http://snomed.info/sct';
const IDENTIFIER = { system: 'urn:charts', value: 'A-1', type: { coding: [{ system: 'urn:types', code: 'MR' }] } };

/** One parameter with modifiers of each type, and a value that fits each modifier. */
const VALUES: readonly (readonly [type: string, code: string, Indexed])[] = [
  ['Observation', 'code', concept('http://terminology.hl7.org/CodeSystem/condition-category', 'problem-list-item')],
  ['Condition', 'clinical-status', concept('http://terminology.hl7.org/CodeSystem/condition-clinical', 'recurrence')],
  ['Patient', 'identifier', { type: 'Identifier', value: IDENTIFIER }],
  ['Patient', 'family', { type: 'string', value: 'Okonkwo' }],
  ['Observation', 'subject', { type: 'Reference', value: { reference: 'Patient/1', identifier: IDENTIFIER } }],
  ['ValueSet', 'url', { type: 'uri', value: 'http://example.org/sets/a' }],
];

function concept(system: string, code: string): Indexed {
  return { type: 'CodeableConcept', value: { text: 'Problem', coding: [{ system, code, display: 'Problem' }] } };
}

const VALUE_SETS = new Map([['urn:set', [[SNOMED, ['1']]] as const]]);

function offering(type: string, code: string): Offered {
  const parameter = searchParameterOf(type, code);
  if (parameter === undefined) throw new Error(`R4 has no parameter ${code} of ${type}`);
  const modifiers = new Set([...MODIFIERS, 'missing'] as const);
  return { parameter, modifiers, inverse: 'indexed', sortable: false, byDigits: false, targets: [], byAddress: false };
}

test('the law asks a question with each modifier, so that one that is offered is also tried', () => {
  const asked = new Set(
    VALUES.flatMap(([type, code, value]) =>
      questionsFor(offering(type, code), [value], { values: 5, valueSets: VALUE_SETS }).map(({ modifier }) => modifier),
    ),
  );
  const never = [...MODIFIERS, 'missing'].filter(modifier => !asked.has(modifier));
  expect(never, 'modifiers that src/law/questions.ts asks nothing with, or that VALUES has no value for').toEqual([]);
});
