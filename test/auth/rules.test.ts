/** Tests what a pack's access rules permit with broken glass, and for labels. */
import { expect, test } from 'vitest';
import { hiddenLabels, type Opened, type PackAccess, rulesBehindGlass } from '../../src/auth/rules.ts';

const RULES: PackAccess = {
  users: [{ user: 'Practitioner', patients: [['general-practitioner', '{user}']], also: ['Location'] }],
  labels: [{ hide: ['s|R'], users: ['Practitioner'], purposes: ['ETREAT'] }],
};
const opening = (...opens: readonly Opened[]): PackAccess => ({
  ...RULES,
  glass: { users: [], clients: undefined, opens },
});

test('a broken glass widens only what the pack opens', () => {
  const user = 'Practitioner/7';
  expect(rulesBehindGlass(RULES, user)).toEqual(RULES);
  expect(rulesBehindGlass(opening('labels'), user)).toEqual({ ...opening('labels'), labels: [] });
  expect(rulesBehindGlass(opening('patients'), user)).toEqual({
    ...opening('patients'),
    users: [{ user: 'Practitioner', patients: 'all', also: [] }],
  });
});

test('patients are opened only to a user with a valid reference', () => {
  for (const user of ['', 'practitioner/7', 'Practitioner/', 'Practitioner'])
    expect(rulesBehindGlass(opening('patients'), user).users, user).toEqual([]);
});

test('labels are shown to the named user types and for the named purposes only', () => {
  expect(hiddenLabels(RULES, 'Practitioner/7', undefined)).toEqual([]);
  expect(hiddenLabels(RULES, 'Patient/7', undefined)).toEqual(['s|R']);
  expect(hiddenLabels(RULES, undefined, undefined)).toEqual(['s|R']);
  expect(hiddenLabels(RULES, undefined, 'ETREAT')).toEqual([]);
  expect(hiddenLabels(RULES, 'Patient/7', 'HPAYMT')).toEqual(['s|R']);
});
