import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { choicesOf, chosen } from '../../src/smart/choices.ts';
import { readable } from '../../src/smart/pages.ts';
import { grantable, parseResourceScope } from '../../src/smart/scopes.ts';

const ALL = ['openid', 'fhirUser', 'launch/patient', 'patient/*.rs', 'user/*.rs', 'system/*.rs'];

describe('what may be granted', () => {
  test.each<[asked: string, granted: string]>([
    ['patient/Observation.rs', 'patient/Observation.rs'],
    ['patient/Observation.read', 'patient/Observation.read'],
    ['patient/Observation.*', 'patient/Observation.read'],
    ['patient/Observation.write', ''],
    ['patient/Observation.cruds', 'patient/Observation.rs'],
    ['patient/Observation.r', 'patient/Observation.r'],
    ['patient/Observation.s', 'patient/Observation.s'],
    ['patient/Observation.sr', ''],
    ['patient/Observation.', ''],
    ['patient/observation.rs', ''],
    ['patient/Observation.rs?category=a|b', 'patient/Observation.rs?category=a|b'],
    ['patient/Observation.read?category=a|b', ''],
    ['system/*.rs', ''],
    ['offline_access', ''],
    ['openid openid', 'openid'],
    ['email nonsense openid', 'openid'],
    ['patient/Observation.read patient/Observation.*', 'patient/Observation.read'],
  ])('of %s it is %s', (asked, granted) => {
    expect(grantable(asked.split(' '), ALL, 'person').join(' ')).toBe(granted);
  });

  test('a client in its own name gets system scopes alone', () => {
    expect(grantable(['openid', 'patient/*.rs', 'system/Patient.rs'], ALL, 'client')).toEqual(['system/Patient.rs']);
  });

  test('the registered scopes limit type, permissions and constraint', () => {
    const bounds = ['patient/Patient.r', 'patient/Observation.rs?category=a'];
    const ask = (scope: string) => grantable([scope], bounds, 'person');
    expect(ask('patient/Patient.rs')).toEqual(['patient/Patient.r']);
    expect(ask('patient/Patient.read')).toEqual(['patient/Patient.r']);
    expect(ask('patient/*.rs')).toEqual([]);
    expect(ask('patient/Observation.rs')).toEqual([]);
    expect(ask('patient/Observation.rs?category=a')).toEqual(['patient/Observation.rs?category=a']);
    expect(ask('patient/Observation.rs?category=b')).toEqual([]);
    expect(ask('user/Patient.r')).toEqual([]);
  });

  test('a scope that names a label is granted to clients that are registered with it alone', () => {
    const label = 'user/Condition.rs?_security=http://example.org/labels|SUD';
    const hidden = [label, label.replace('_sec', '%5Fsec'), label.replace('?', '?category=a&%5fsecurity=b&')];
    for (const scope of hidden) {
      for (const wide of ['user/*.rs', 'user/Condition.rs', 'user/Condition.rs?category=a'])
        expect([scope, wide, grantable([scope], [wide], 'person')]).toEqual([scope, wide, []]);
      expect(grantable([scope], ['system/*.rs', scope], 'person')).toEqual(parseResourceScope(scope) ? [scope] : []);
    }
    expect(grantable([label.replace('SUD', 'PSY')], [label], 'person')).toEqual([]);
    const [program, registered] = [label, 'user/*.rs'].map(scope => scope.replace('user', 'system'));
    expect(grantable([program ?? ''], [registered ?? ''], 'client')).toEqual([]);
  });

  test('a scope whose condition goes to other resources is granted to clients that are registered with it alone', () => {
    const chain = 'user/Patient.rs?general-practitioner.name=Hartwell';
    const far = [
      chain,
      'user/Patient.rs?_has:Condition:patient:code=F32.9',
      'user/Patient.rs?gender=female&_has:Condition:patient:code=F32.9',
      'user/Patient.rs?gender=female&%5Fhas%3ACondition%3Apatient%3Acode=F32.9',
      'user/Observation.rs?subject:Patient.family=Hartwell',
      'user/Observation.rs?code=1&subject%2Efamily=Hartwell',
    ];
    for (const scope of far) {
      for (const wide of ['user/*.rs', scope.replace(/\?.*/, ''), scope.replace(/=.*/, '=other')])
        expect([scope, wide, grantable([scope], [wide], 'person')]).toEqual([scope, wide, []]);
      expect(grantable([scope], ['user/*.rs', scope], 'person')).toEqual([scope]);
    }
    expect(grantable([chain.replace('user', 'system')], ['system/*.rs'], 'client')).toEqual([]);
    const near = ['user/Observation.rs?code:in=a', 'user/Observation.rs?component-code-value-quantity=a$gt5.4'];
    expect(grantable(near, ['user/*.rs'], 'person')).toEqual(near);
  });

  test('it never writes, and never exceeds the request', () => {
    const scope = fc
      .tuple(
        fc.constantFrom('patient', 'user', 'system'),
        fc.constantFrom('*', 'Patient', 'Observation'),
        fc.constantFrom('read', 'write', '*', 'cruds', 'rs', 'r', 's', 'cu', 'sr'),
      )
      .map(([level, type, action]) => `${level}/${type}.${action}`);
    fc.assert(
      fc.property(fc.array(scope), fc.array(scope), (asked, registered) => {
        for (const text of grantable(asked, registered, 'person')) {
          const granted = parseResourceScope(text);
          const from = asked.flatMap(one => parseResourceScope(one) ?? []);
          expect(granted?.level).not.toBe('system');
          expect(granted?.letters).toMatch(/^r?s?$/);
          for (const letter of granted?.letters ?? '')
            expect(
              from.some(
                one => one.level === granted?.level && one.type === granted.type && one.letters.includes(letter),
              ),
            ).toBe(true);
        }
      }),
    );
  });
});

describe('words at consent', () => {
  const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';
  test.each<[query: string, words: string]>([
    [`category=${SYSTEM}|vital-signs`, 'category vital-signs'],
    [`category=${SYSTEM}|social-history,${SYSTEM}|vital-signs`, 'category social-history or vital-signs'],
    [`category=${SYSTEM}%7Csocial-history%2C${SYSTEM}|vital-signs`, 'category social-history or vital-signs'],
    ['code=a%5C%2Cb|c', 'code c'],
    [`category=${SYSTEM}|`, `category ${SYSTEM}|`],
    ['category=laboratory&code=%68iv', 'category laboratory, code hiv'],
    ['code=hiv%20of%20nobody,b', 'code “hiv of nobody” or b'],
    ['value-quantity=gt5|http://unitsofmeasure.org|mg', 'value-quantity gt5|http://unitsofmeasure.org|mg'],
  ])('every value of %s is shown: %s', (query, words) => {
    expect(readable(query)).toBe(words);
  });
});

describe('choices at consent', () => {
  const TYPES = ['Condition', 'Patient'];

  test('a type has the granular scopes of US Core, `*` has the served types', () => {
    const [condition, all] = choicesOf(['patient/Condition.rs', 'user/*.r', 'openid'], TYPES);
    expect(condition?.parts.map(({ scope }) => scope)).toEqual([
      'patient/Condition.rs?category=http://terminology.hl7.org/CodeSystem/condition-category|encounter-diagnosis',
      'patient/Condition.rs?category=http://terminology.hl7.org/CodeSystem/condition-category|problem-list-item',
      'patient/Condition.rs?category=http://hl7.org/fhir/us/core/CodeSystem/condition-category|health-concern',
    ]);
    expect(all?.parts).toEqual([
      { scope: 'user/Condition.r', label: 'Condition' },
      { scope: 'user/Patient.r', label: 'Patient' },
    ]);
  });

  test('a whole choice replaces its parts; otherwise the parts are granted', () => {
    const choices = choicesOf(['patient/*.rs'], TYPES);
    expect(chosen(choices, new Set(['patient/*.rs', 'patient/Patient.rs']))).toEqual(['patient/*.rs']);
    expect(chosen(choices, new Set(['patient/Patient.rs']))).toEqual(['patient/Patient.rs']);
    expect(chosen(choices, new Set(['patient/Observation.rs', 'user/*.rs']))).toEqual([]);
  });
});
