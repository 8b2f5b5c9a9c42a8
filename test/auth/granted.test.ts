import { describe, expect, test } from 'vitest';
import { accessOfAccounts, accessOfGrant, accessOfUser } from '../../src/auth/granted.ts';
import { NO_RULES, type PackAccess } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';

const RULES: PackAccess = {
  users: [
    { user: 'Practitioner', patients: [['general-practitioner', '{user}']], also: ['Location'] },
    { user: 'Person', patients: 'all', also: [] },
  ],
  labels: [],
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
  except: [],
});

test('scopes add up; a scope that names no resource permits nothing', () => {
  const scopes = ['openid', 'system/Patient.rs', 'system/Observation.r', 'system/Condition.c', 'nonsense/*.rs'];
  expect(permissionsOf({ scopes })).toEqual([whole('Patient'), { ...whole('Observation'), search: false }]);
  expect(permissionsOf({ scopes: ['openid'] })).toEqual([]);
});

test('system/*.rs permits everything; with a condition or for one action it does not', () => {
  expect(permissionsOf({ scopes: ['system/*.rs'] })).toBe('all');
  expect(permissionsOf({ scopes: ['system/*.read'] })).toBe('all');
  for (const scope of ['system/*.r', 'system/*.s', 'system/*.rs?_tag=x', 'system/Patient.rs'])
    expect(permissionsOf({ scopes: [scope] }), scope).not.toBe('all');
});

test('patient scopes cover the patient in context, and nobody without one', () => {
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
  // A scope for one action permits that action only.
  expect(permissionsOf({ scopes: ['user/Condition.s', 'user/Condition.r'], fhirUser })).toEqual([
    { ...whole('Condition', [found]), read: false },
    { ...whole('Condition', [found]), search: false },
  ]);
  expect(permissionsOf({ scopes: ['system/*.rs'], fhirUser })).toEqual([whole('*', [found]), whole('Location')]);
  expect(permissionsOf({ scopes: ['user/Location.rs'], fhirUser })).toEqual([
    whole('Location', [found]),
    whole('Location'),
  ]);
  expect(permissionsOf({ scopes: ['user/*.rs'], fhirUser: 'Person/1' })).toBe('all');
});

test('a user without a rule, or unknown, sees nothing; patients see their own data', () => {
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

test('an account sees what its linked person may see, and nothing without one', () => {
  expect(accessOfUser('account:a', 'Person/1', RULES)).toEqual({ kind: 'all', caller: 'account:a' });
  expect(accessOfUser('account:a', undefined, RULES)).toEqual({
    kind: 'limited',
    caller: 'account:a',
    permissions: [],
  });
});

test('callers have distinct keys, whatever characters their names have', () => {
  const caller = (grant: Partial<Grant>) => accessOfGrant({ ...GRANT, ...grant }, NO_RULES).caller;
  expect(caller({ client: 'a b', subject: 'c' })).not.toBe(caller({ client: 'a', subject: 'b c' }));
});

describe('labels', () => {
  const rules: PackAccess = {
    users: [{ user: 'Practitioner', patients: 'all', also: [] }],
    labels: [
      { hide: ['s|SUD', 's|R'], users: ['Patient'], purposes: ['TREAT'] },
      { hide: ['s|PSY'], users: ['Patient', 'Practitioner'], purposes: [] },
    ],
  };
  const exceptOf = (grant: Partial<Grant>): readonly string[] => {
    const access = accessOfGrant({ ...GRANT, ...grant }, rules);
    return access.kind === 'all' ? ['all'] : access.permissions.map(({ except }) => JSON.stringify(except));
  };
  const hidden = (labels: string): string => JSON.stringify([['_security', labels]]);

  test('are hidden from all users whom no rule permits them', () => {
    expect(exceptOf({ scopes: ['system/*.rs'] })).toEqual([hidden('s|SUD,s|R,s|PSY')]);
    expect(exceptOf({ scopes: ['user/*.rs'], fhirUser: 'Practitioner/1' })).toEqual([hidden('s|SUD,s|R')]);
    expect(exceptOf({ scopes: ['patient/*.rs'], patient: '1', fhirUser: 'Patient/1' })).toEqual(['[]']);
    expect(accessOfUser('x', 'Practitioner/1', rules)).toMatchObject({
      permissions: [{ except: [['_security', 's|SUD,s|R']] }],
    });
  });

  test('are shown for a purpose', () => {
    expect(exceptOf({ scopes: ['system/*.rs'], purpose: 'TREAT' })).toEqual([hidden('s|PSY')]);
    expect(exceptOf({ scopes: ['system/*.rs'], purpose: 'HRESCH' })).toEqual([hidden('s|SUD,s|R,s|PSY')]);
  });

  test('are shown to a scope that names them, and to no other of the same token', () => {
    const scopes = ['system/Condition.rs?_security=s|SUD', 'system/Observation.rs'];
    expect(exceptOf({ scopes })).toEqual([hidden('s|R,s|PSY'), hidden('s|SUD,s|R,s|PSY')]);
    // A scope with another condition on labels shows no more.
    expect(exceptOf({ scopes: ['system/Condition.rs?_security:not=s|SUD'] })).toEqual([hidden('s|SUD,s|R,s|PSY')]);
    expect(exceptOf({ scopes: ['system/Condition.rs?_security=SUD'] })).toEqual([hidden('s|SUD,s|R,s|PSY')]);
  });
});

test('an account without a linked person sees everything on an open server, else nothing', () => {
  const account = { name: 'anna', password: '', disabled: false };
  const tied = { ...account, fhirUser: 'Practitioner/7' };
  expect(accessOfAccounts(RULES, true)(account)).toMatchObject({ kind: 'all' });
  expect(accessOfAccounts(RULES, false)(account)).toMatchObject({ kind: 'limited', permissions: [] });
  for (const isOpen of [true, false]) {
    const found = [['general-practitioner', 'Practitioner/7']];
    expect(accessOfAccounts(RULES, isOpen)(tied)).toMatchObject({
      permissions: [whole('*', [{ found }]), whole('Location')],
    });
  }
});
