/** Tests whether one access certainly shows all that another shows. */
import { expect, test } from 'vitest';
import { type Access, ANY, type Permission, reaches } from '../../src/auth/access.ts';

const caller = 'app';
const PATIENTS: Permission = { type: 'Patient', read: true, search: true, within: [], where: [], except: [] };
const limited = (...permissions: readonly Permission[]): Access => ({ kind: 'limited', caller, permissions });

test.each<[title: string, wide: Access, narrow: Access, reached: boolean]>([
  ['everything', { kind: 'all', caller }, limited(PATIENTS), true],
  ['not everything', limited({ ...PATIENTS, type: ANY }), { kind: 'all', caller }, false],
  ['the same', limited(PATIENTS), limited(PATIENTS), true],
  ['any type', limited({ ...PATIENTS, type: ANY }), limited(PATIENTS), true],
  ['another type', limited({ ...PATIENTS, type: 'Group' }), limited(PATIENTS), false],
  ['some of several', limited(PATIENTS), limited(PATIENTS, { ...PATIENTS, type: 'Group' }), false],
  ['only reading', limited({ ...PATIENTS, search: false }), limited(PATIENTS), false],
  ['only searching', limited({ ...PATIENTS, read: false }), limited(PATIENTS), false],
  ['a condition more', limited({ ...PATIENTS, where: [['gender', 'female']] }), limited(PATIENTS), false],
  ['a condition less', limited(PATIENTS), limited({ ...PATIENTS, where: [['gender', 'female']] }), true],
  ['a label hidden since', limited({ ...PATIENTS, except: [['_security', 'x|R']] }), limited(PATIENTS), false],
  ['other patients', limited({ ...PATIENTS, within: [{ ids: ['1'] }] }), limited(PATIENTS), false],
  ['nothing', limited(), limited(PATIENTS), false],
])('covered permissions: %s', (_title, wide, narrow, reached) => {
  expect(reaches(wide, narrow)).toBe(reached);
});
