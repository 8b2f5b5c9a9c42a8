import { expect, test } from 'vitest';
import { accessOfGrant, accessOfUser } from '../../src/auth/granted.ts';
import { NO_RULES, type PackAccess } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';

const RULES: PackAccess = {
  users: [
    { user: 'Practitioner', patients: [['general-practitioner', '{user}']], also: ['Location'] },
    { user: 'Person', patients: 'all', also: [] },
  ],
};

const GRANT: Grant = { subject: 's', client: 'c', issuer: 'i', scopes: [], expires: 0 };

function permissionsOf(grant: Partial<Grant>) {
  const access = accessOfGrant({ ...GRANT, ...grant }, RULES);
  return access.kind === 'all' ? 'all' : access.permissions;
}

const whole = (type: string, within: readonly object[] = [], where: readonly object[] = []) => ({
  type,
  read: true,
  search: true,
  within,
  where,
});

test('scopes unite; what speaks of no resource allows none', () => {
  const scopes = ['openid', 'system/Patient.rs', 'system/Observation.r', 'system/Condition.c', 'nonsense/*.rs'];
  expect(permissionsOf({ scopes })).toEqual([whole('Patient'), { ...whole('Observation'), search: false }]);
  expect(permissionsOf({ scopes: ['openid'] })).toEqual([]);
});

test('system scopes on everything are everything, with a condition or for one action they are not', () => {
  expect(permissionsOf({ scopes: ['system/*.rs'] })).toBe('all');
  expect(permissionsOf({ scopes: ['system/*.read'] })).toBe('all');
  for (const scope of ['system/*.r', 'system/*.s', 'system/*.rs?_tag=x', 'system/Patient.rs'])
    expect(permissionsOf({ scopes: [scope] }), scope).not.toBe('all');
});

test('patient scopes are of the patient in context, and of nobody without one', () => {
  expect(permissionsOf({ scopes: ['patient/*.rs'], patient: '5' })).toEqual([whole('*', [{ ids: ['5'] }])]);
  expect(permissionsOf({ scopes: ['patient/*.rs'] })).toEqual([]);
});

test('conditions of scopes are kept', () => {
  expect(permissionsOf({ scopes: ['patient/Observation.rs?category=a|b'], patient: '5' })).toEqual([
    whole('Observation', [{ ids: ['5'] }], [['category', 'a|b']]),
  ]);
});

test('what the user may see limits every scope', () => {
  const found = { found: [['general-practitioner', 'Practitioner/7']] };
  const fhirUser = 'Practitioner/7';
  expect(permissionsOf({ scopes: ['user/Condition.rs'], fhirUser })).toEqual([whole('Condition', [found])]);
  expect(permissionsOf({ scopes: ['patient/Condition.rs'], fhirUser, patient: '5' })).toEqual([
    whole('Condition', [{ ids: ['5'] }, found]),
  ]);
  expect(permissionsOf({ scopes: ['system/*.rs'], fhirUser })).toEqual([whole('*', [found]), whole('Location')]);
  expect(permissionsOf({ scopes: ['user/Location.rs'], fhirUser })).toEqual([
    whole('Location', [found]),
    whole('Location'),
  ]);
  expect(permissionsOf({ scopes: ['user/*.rs'], fhirUser: 'Person/1' })).toBe('all');
});

test('a user of whom no rule speaks, or who cannot be told, sees nothing; patients see themselves', () => {
  for (const fhirUser of [
    'RelatedPerson/1',
    'Practitioner',
    'https://other.example.org/Practitioner/7',
    'Practitioner/7/x',
    '',
  ])
    expect(permissionsOf({ scopes: ['user/*.rs', 'patient/*.rs', 'system/*.rs'], patient: '5', fhirUser })).toEqual([]);
  expect(permissionsOf({ scopes: ['user/*.rs'] })).toEqual([]);
  expect(permissionsOf({ scopes: ['user/*.rs'], fhirUser: 'Patient/5' })).toEqual([whole('*', [{ ids: ['5'] }])]);
  expect(permissionsOf({ scopes: ['patient/*.rs'], patient: '6', fhirUser: 'Patient/5' })).toEqual([
    whole('*', [{ ids: ['6'] }, { ids: ['5'] }]),
  ]);
});

test('an account sees what its user may see, and nothing without one', () => {
  expect(accessOfUser('account:a', 'Person/1', RULES)).toEqual({ kind: 'all', caller: 'account:a' });
  expect(accessOfUser('account:a', undefined, RULES)).toEqual({
    kind: 'limited',
    caller: 'account:a',
    permissions: [],
  });
});

test('callers are told apart whatever their names hold', () => {
  const caller = (grant: Partial<Grant>) => accessOfGrant({ ...GRANT, ...grant }, NO_RULES).caller;
  expect(caller({ client: 'a b', subject: 'c' })).not.toBe(caller({ client: 'a', subject: 'b c' }));
});
