import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseScope, type ResourceScope, scopeText } from '../../src/auth/scopes.ts';

test.each([
  ['patient/Observation.rs', { level: 'patient', type: 'Observation', read: true, search: true, where: [] }],
  ['user/*.cruds', { level: 'user', type: '*', read: true, search: true, where: [] }],
  ['system/Patient.s', { level: 'system', type: 'Patient', read: false, search: true, where: [] }],
  ['patient/*.read', { level: 'patient', type: '*', read: true, search: true, where: [] }],
  ['patient/*.*', { level: 'patient', type: '*', read: true, search: true, where: [] }],
  ['user/Condition.write', { level: 'user', type: 'Condition', read: false, search: false, where: [] }],
  [
    'patient/Observation.rs?category=http://hl7.org/x|lab&code=a%26b,c+d',
    {
      level: 'patient',
      type: 'Observation',
      read: true,
      search: true,
      where: [
        ['category', 'http://hl7.org/x|lab'],
        ['code', 'a&b,c d'],
      ],
    },
  ],
])('%s is parsed as a scope', (text, scope) => {
  expect(parseScope(text)).toEqual(scope);
});

test.each([
  'openid',
  'launch/patient',
  'offline_access',
  'patient/Observation.sr',
  'patient/Observation.rr',
  'patient/Observation.',
  'patient/Observation',
  'patient/.rs',
  'patient/observation.rs',
  'Patient/Observation.rs',
  'patient/Observation.rsx',
  'patient/Observation.reads',
  'patient/Observation.constructor',
  'patient/Observation.rs?',
  'patient/Observation.rs?category',
  'patient/Observation.rs?category=',
  'patient/Observation.rs?category=a&',
  'patient/Observation.rs?category=%zz',
  'patient/Observation.read?category=a',
  'patient/Observation.rs extra',
  ' patient/Observation.rs',
  'patient/Obs/ervation.rs',
])('%s names no resource', text => {
  expect(parseScope(text)).toBeUndefined();
});

const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const scope: fc.Arbitrary<ResourceScope> = fc.record({
  level: fc.constantFrom('patient', 'user', 'system'),
  type: fc.constantFrom('*', 'Patient', 'Observation', 'Widget'),
  read: fc.boolean(),
  search: fc.boolean(),
  where: fc.array(fc.tuple(word, word), { maxLength: 3 }),
});

test('a written scope is parsed back, whatever its conditions contain', () => {
  fc.assert(
    fc.property(
      scope.filter(({ read, search }) => read || search),
      one => {
        expect(parseScope(scopeText(one))).toEqual(one);
      },
    ),
  );
});

test('letters in any other order or number than cruds make a scope void', () => {
  const letters = fc.array(fc.constantFrom<string>('c', 'r', 'u', 'd', 's'), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(letters, found => {
      const text = found.join('');
      const inOrder = [...'cruds'].filter(letter => found.includes(letter)).join('');
      expect(parseScope(`patient/Patient.${text}`) !== undefined).toBe(text === inOrder);
    }),
  );
});
