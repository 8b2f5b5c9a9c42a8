import { describe, expect, test } from 'vitest';
import type { SearchParameterType } from '../../src/r4/search-parameters.ts';
import { typedValue } from '../../src/search/types/types.ts';
import { splitEscaped } from '../../src/search/values.ts';
import { zoneOf } from '../../src/time/zone.ts';

const CONTEXT = { name: 'p', zone: zoneOf('America/New_York'), base: 'http://here/fhir' };

function read(type: SearchParameterType, text: string) {
  return typedValue(text, { code: 'p', type, targets: [] }, undefined, CONTEXT);
}

describe('search values are typed before anything is planned', () => {
  test('a token distinguishes any system, no system and a system', () => {
    expect(read('token', 'a')).toEqual({ kind: 'token', system: undefined, code: 'a' });
    expect(read('token', '|a')).toEqual({ kind: 'token', system: '', code: 'a' });
    expect(read('token', 's|a')).toEqual({ kind: 'token', system: 's', code: 'a' });
    expect(read('token', 's|')).toEqual({ kind: 'token', system: 's', code: undefined });
    expect(read('token', 'a\\|b')).toEqual({ kind: 'token', system: undefined, code: 'a|b' });
  });

  test('a reference is an id, Type/id, an own URL or a foreign one', () => {
    expect(read('reference', '12')).toEqual({ kind: 'reference', type: undefined, id: '12' });
    expect(read('reference', 'Patient/12')).toEqual({ kind: 'reference', type: 'Patient', id: '12' });
    expect(read('reference', 'Patient/12/_history/3')).toEqual({ kind: 'reference', type: 'Patient', id: '12' });
    expect(read('reference', 'http://here/fhir/Patient/12')).toEqual({ kind: 'reference', type: 'Patient', id: '12' });
    expect(read('reference', 'http://there/fhir/Patient/12')).toMatchObject({ kind: 'foreign-reference' });
    expect(() => read('reference', 'Patience/12')).toThrow('expects an id');
    expect(() => read('reference', '../12')).toThrow('expects an id');
  });

  test('a quantity has a number, perhaps a system and a code', () => {
    expect(read('quantity', 'gt5.4|http://unitsofmeasure.org|mg')).toMatchObject({
      kind: 'quantity',
      number: { prefix: 'gt', value: '5.4' },
      system: 'http://unitsofmeasure.org',
      code: 'mg',
    });
    expect(read('quantity', '5||mg')).toMatchObject({ system: '', code: 'mg' });
    expect(() => read('quantity', '5|mg')).toThrow('expects');
  });

  test('an error names the parameter and the form, and never the value', () => {
    for (const type of ['date', 'number', 'quantity'] as const) {
      expect(() => read(type, 'Ada-Lovelace')).toThrow(/^parameter p expects (?!.*Lovelace)/);
    }
  });

  test('escaped separators do not split', () => {
    expect(splitEscaped('a\\,b,c\\\\,d', ',')).toEqual(['a\\,b', 'c\\\\', 'd']);
  });
});
