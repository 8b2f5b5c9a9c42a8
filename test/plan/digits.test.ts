/** Searches for values by their digits, through the mapping; no FHIR search parameter does this. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { branchesOf } from '../../src/plan/branches.ts';
import { environment } from '../../src/plan/environment.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { searchParametersOf } from '../../src/r4/search-parameters.ts';
import type { Filter } from '../../src/search/query.ts';
import { renderPredicate } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 1, engine: 'sqlite' });
});
afterAll(() => demo.close());

const phone = searchParametersOf('Patient').find(({ code }) => code === 'phone');
if (!phone) throw new Error('FHIR has no phone');
const asked = (digits: string): Filter => ({
  kind: 'match',
  parameter: phone,
  modifier: undefined,
  values: [{ kind: 'digits', any: [{ digits, where: 'whole' }] }],
});

describe('digits', () => {
  test('are searched in every column of a telephone number, and in no other', () => {
    const request = { type: 'Patient', filters: [asked('2075550188')], sort: [] };
    const [branch, ...others] = branchesOf(request, environment(demo.registry, 0, FULL_VISIBILITY));
    expect(others).toEqual([]);
    if (!branch) throw new Error('nothing is asked');
    const { text } = renderPredicate(branch.where, SQLITE);
    expect(new Set(text.match(/lintel_digits\(trim\(p\.\w+/g))).toEqual(
      new Set(['HM_PH', 'WK_PH', 'CELL_PH'].map(column => `lintel_digits(trim(p.${column}`)),
    );
  });

  test('are searched if a mapping emits text, without changing FHIR searches', () => {
    const { offers } = demo.facade;
    expect(offers.find('Patient', 'phone')).toMatchObject({ byDigits: true });
    expect([...(offers.find('Patient', 'phone')?.modifiers ?? [])].toSorted()).toEqual(['missing', 'not']);
  });

  test('are not searched in values of a code map', () => {
    expect(demo.facade.offers.find('Patient', 'gender')).toMatchObject({ byDigits: false });
  });
});
