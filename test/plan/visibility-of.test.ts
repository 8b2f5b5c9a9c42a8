/** Permissions that another one makes superfluous are left out, and no others. */
import { expect, test } from 'vitest';
import type { Permission } from '../../src/auth/access.ts';
import type { SeenPermission } from '../../src/plan/visibility.ts';
import { type ParseFilter, visibilityOf } from '../../src/plan/visibility-of.ts';

const permission = (limits: Partial<Permission>): Permission => ({
  ...{ type: '*', read: true, search: true, within: [], where: [], except: [] },
  ...limits,
});

/** The filters themselves do not matter here: each equals only itself. */
const parse: ParseFilter = (_type, name, value) => {
  if (name === 'unknown') throw new Error('not offered');
  return { name, value } as unknown as ReturnType<ParseFilter>;
};

function seen(...permissions: readonly Permission[]): readonly SeenPermission[] {
  const visibility = visibilityOf({ kind: 'limited', caller: 'c', permissions }, ['Observation'], parse);
  return visibility.permissions?.get('Observation') ?? [];
}

const FINAL = ['status', 'final'] as const;
const LAB = ['category', 'laboratory'] as const;

test.each([
  ['fewer conditions', { where: [FINAL] }, { where: [FINAL, LAB] }],
  ['no condition', {}, { where: [FINAL] }],
  ['fewer exceptions', { except: [FINAL] }, { except: [LAB, FINAL] }],
  ['fewer groups of patients', { within: [{ ids: ['1'] }] }, { within: [{ ids: ['2'] }, { ids: ['1'] }] }],
  ['more actions', {}, { search: false }],
])('a permission with %s subsumes the other one, in either order', (_what, wide, narrow) => {
  const alone = seen(permission(wide));
  expect(seen(permission(wide), permission(narrow))).toEqual(alone);
  expect(seen(permission(narrow), permission(wide))).toEqual(alone);
});

test.each([
  ['other conditions', { where: [FINAL] }, { where: [LAB] }],
  ['conditions of which one is shared', { where: [FINAL, LAB] }, { where: [FINAL, ['code', 'x'] as const] }],
  ['another exception', { except: [FINAL] }, { except: [LAB] }],
  ['other patients', { within: [{ ids: ['1'] }] }, { within: [{ ids: ['2'] }] }],
  ['another action', { search: false }, { read: false }],
  ['a condition, but more actions', { where: [FINAL] }, { search: false }],
])('permissions with %s are both kept', (_what, one, other) => {
  expect(seen(permission(one), permission(other))).toHaveLength(2);
});

test('an invalid permission permits nothing, and subsumes no other', () => {
  const unknown = permission({ except: [['unknown', 'x']] });
  expect(seen(unknown)).toEqual([]);
  expect(seen(unknown, permission({ where: [FINAL] }))).toHaveLength(1);
});

test.each([
  ['the same patients in each', [{ within: [{ ids: ['1'] }] }, { within: [{ ids: ['1'] }], where: [FINAL] }], true],
  ['other patients in one', [{ within: [{ ids: ['1'] }] }, { within: [{ ids: ['2'] }], where: [FINAL] }], false],
  ['nobody in one', [{ within: [{ ids: ['1'] }], where: [LAB] }, { where: [FINAL] }], false],
] as const)(
  'a visibility is uniform with %s: what one permission shows is not shown by another',
  (_what, limits, uniform) => {
    const permissions = limits.map(one => permission(one));
    const visibility = visibilityOf({ kind: 'limited', caller: 'c', permissions }, ['Observation'], parse);
    expect(visibility.uniform).toBe(uniform);
  },
);
