/** Tests how sorting divides the rows of a mapping into parts, by the source of the value they sort by. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { afterCursor, orderOf } from '../../src/pipeline/branch-plan.ts';
import { type Branch, branchesOf } from '../../src/plan/branches.ts';
import { bareRelation } from '../../src/plan/condition.ts';
import { environment } from '../../src/plan/environment.ts';
import { sortsWithoutIndex } from '../../src/plan/index-use.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import type { SortKey } from '../../src/search/query.ts';
import { TRUE } from '../../src/sql/construct.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';
import { tsqlProblems } from '../sql/grammar/tsql-grammar.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 1 });
});
afterAll(() => demo.close());

function sorted(type: string, ...codes: readonly string[]): readonly Branch[] {
  const sort = codes.map((code): SortKey => {
    const offered = demo.facade.offers.find(type, code);
    if (!offered) throw new Error(`${type} has no ${code}`);
    return { parameter: offered.parameter, descending: false };
  });
  return branchesOf({ type, filters: [], sort }, environment(demo.registry, NOW, FULL_VISIBILITY));
}

test('a sort has one part per source column of the value, and one for rows without a value', () => {
  const parts = sorted('Encounter', 'date');
  expect(parts.map(({ sort: [face] }) => face?.by.length ?? 0)).toEqual([3, 1, 0]);
  expect(new Set(parts.map(({ ordinal }) => ordinal)).size).toBe(3);
  expect(new Set(parts.map(({ group }) => group)).size).toBe(3);
});

test('a sort has no part for rows without a value if every row has one', () => {
  const parts = sorted('Provenance', 'recorded');
  expect(parts.length).toBeGreaterThan(10);
  expect(parts.filter(({ sort: [face] }) => face === null)).toEqual([]);
});

test('each row sorts by the alternative that it has', () => {
  expect(sorted('Goal', 'target-date').map(({ sort: [face] }) => face === null)).toEqual([false, false, true]);
});

test('each further sort key divides the parts', () => {
  const parts = sorted('Encounter', 'date', '_lastUpdated');
  expect(parts.map(({ sort }) => sort.map(face => face !== null))).toEqual([
    [true, true],
    [true, false],
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ]);
});

test('more sort keys than can be merged are refused', () => {
  const keys = Array.from({ length: 4 }, () => 'date');
  expect(() => sorted('Encounter', ...keys)).toThrow('too many sort keys');
});

test.each([
  ['Immunization', [3, 0]],
  ['Procedure', [1, 1, 0, 5, 0]],
] as const)('rows of %s with text in place of a time sort as rows without a value', (type, columns) => {
  const parts = sorted(type, 'date');
  expect(parts.map(({ sort: [face] }) => face?.by.length ?? 0)).toEqual(columns);
});

test('a code map sorts by code with a CASE on the raw value; a constant uses no column', () => {
  const parts = sorted('Encounter', 'status');
  const codes = parts.flatMap(({ sort: [face] }) => (face?.by.length === 0 ? [face.order.toKey([])] : []));
  expect(codes.length).toBeGreaterThan(0);
  const kinds = sorted('CarePlan', 'status').map(({ sort: [face] }) => face?.by.map(({ kind }) => kind));
  expect(kinds).toContainEqual(['choice']);
});

test('links of sorted pages stay short, however many raw values a code map has', () => {
  for (const code of ['code', 'category', 'status'])
    for (const { group } of sorted('Observation', code)) expect(group.length).toBeLessThan(100);
});

test('parts with different constants are never merged', () => {
  const parts = sorted('Observation', 'status');
  for (const { mappings, sort } of parts)
    if (sort[0]?.by.length === 0) expect(new Set(mappings.map(() => sort[0]?.statementKey)).size).toBe(1);
});

test('several names sort by the least, of child rows and of the row', () => {
  const parts = sorted('Patient', 'family');
  expect(parts.map(({ sort: [face] }) => face?.by.map(({ kind }) => kind))).toEqual([
    ['function'],
    ['scalar'],
    undefined,
  ]);
  const [, inRows] = parts;
  expect(inRows?.sort[0]?.by).toMatchObject([{ select: { name: 'upper' }, order: [{ descending: false }] }]);
});

test('ids sort by their forms, and within a form by the columns they are made of', () => {
  const [patients] = sorted('Patient', '_id');
  expect(patients?.sort[0]?.by).toMatchObject([{ kind: 'column', column: 'PT_NO' }]);
  const order = patients?.sort[0]?.order;
  expect(order?.toKey([9])).toBeDefined();
  for (const [less, more] of [
    [9, 10],
    [-10, -9],
    [-1, 0],
    [2 ** 31, 2 ** 40],
  ] as const)
    expect(String(order?.toKey([less])) < String(order?.toKey([more])), `${less}`).toBe(true);
  for (const raw of [-5, 0, 7, 2 ** 40]) expect(order?.fromKey(order.toKey([raw]) ?? '')).toEqual([raw]);
});

test('every parameter sorts, except composites and child references to ids of several forms', () => {
  const unsorted = demo.facade.offers.types.flatMap(type =>
    demo.facade.offers.of(type).filter(({ parameter, sortable }) => parameter.type !== 'composite' && !sortable),
  );
  expect(unsorted.map(({ parameter }) => parameter.url)).toEqual([
    'http://hl7.org/fhir/SearchParameter/DiagnosticReport-result',
  ]);
  const composites = demo.facade.offers.of('Observation').filter(({ parameter }) => parameter.type === 'composite');
  expect(new Set(composites.map(({ sortable }) => sortable))).toEqual(new Set([false]));
});

test('a reference sorts by own columns if they form the target id, else by a lookup', () => {
  const kinds = sorted('AllergyIntolerance', 'patient').map(({ sort: [face] }) => face?.by.map(({ kind }) => kind));
  expect(kinds).toContainEqual(['column']);
  expect(kinds).toContainEqual(['scalar']);
});

const SORTS = [
  ['Encounter', 'type', 'codes of columns beside a constant'],
  ['Condition', 'category', 'a constant beside the codes of a map'],
  ['DiagnosticReport', 'performer', 'references to types that differ'],
  ['Group', 'member', 'references in child rows'],
  ['MedicationRequest', 'requester', 'a reference, or words in its place'],
  ['Observation', 'code', 'codes of a map, local ones where it has none'],
  ['Observation', 'value-quantity', 'numbers, some with a comparator before them'],
  ['Observation', 'component-value-quantity', 'numbers of which a resource has several'],
  ['AllergyIntolerance', 'severity', 'codes of a map in child rows'],
  ['Condition', 'code', 'parts of the pieces of a text'],
  ['Group', 'identifier', 'UUIDs'],
  ['Observation', 'has-member', 'references in child rows to ids of several keys'],
  ['Organization', 'type', 'codes of two maps'],
  ['Patient', 'address', 'cities in child rows'],
  ['Patient', 'deceased', 'whether an element is there'],
  ['Patient', 'identifier', 'texts, numbers and UUIDs'],
  ['Patient', 'race', 'codes of a map for the pieces of a text'],
  ['Provenance', 'target', 'references to ids of several forms, and to a patient'],
  ['Patient', '_profile', 'what all have'],
  ['Observation', '_profile', 'constants of which each has its own condition'],
  ['Patient', '_tag', 'what none has'],
  ['ValueSet', 'name', 'what the server says itself'],
] as const;

test.each(SORTS)('%s sorts by %s: %s', (type, code) => {
  expect(demo.facade.offers.find(type, code)?.sortable).toBe(true);
});

test('references sort by the type of their target first', () => {
  const faces = sorted('DiagnosticReport', 'performer').flatMap(({ sort: [face] }) => face ?? []);
  expect(new Set(faces.map(({ begin }) => begin?.split('/')[0]))).toEqual(new Set(['Organization', 'Practitioner']));
  for (const { side } of faces) expect([side?.('A/'), side?.('Z/')]).toEqual(['above', 'below']);
});

test('sorts that compute on each row are listed with the columns that they read', async () => {
  const catalog = await demo.database.catalog();
  const listed = (type: string): ReadonlyMap<string, readonly string[]> => {
    const all = sortsWithoutIndex(demo.facade.offers.of(type), {
      mappings: demo.registry.ofType(type),
      registry: demo.registry,
      catalog,
    });
    return new Map(all.map(({ code, columns }) => [code, columns]));
  };
  expect(listed('CarePlan').get('status')).toEqual(['CARE_PLN.PLN_STS computed']);
  expect(listed('AllergyIntolerance').get('severity')).toEqual(['ALLRGY_RXN.SEV computed']);
  expect(listed('Condition').get('code')).toContain('ENC_DX.DX_CDS computed');
});

/** Ignores which rows are served; other tests cover that. */
function orderedPage(branch: Branch, sort: readonly SortKey[], after: Predicate): string {
  const { source } = branch.mappings[0]?.mapping ?? {};
  if (!source) throw new Error('no mapping');
  const columns = branch.sort.flatMap(face => face?.by ?? []);
  const from = bareRelation(source, after, environment(demo.registry, NOW, FULL_VISIBILITY), columns);
  const plan: SqlPlan = { from, columns, orderBy: orderOf(branch, sort), limit: 2, shape: 'rows' };
  return render(plan, MSSQL).text;
}

test('the order of a page and the bound of the next one parse as T-SQL', () => {
  /** The shortest statement for each kind of order. */
  const shortest = new Map<string, readonly string[]>();
  for (const [type, code] of SORTS) {
    const parameter = demo.facade.offers.find(type, code)?.parameter;
    const sort: readonly SortKey[] = parameter ? [{ parameter, descending: true }] : [];
    for (const branch of sorted(type, code)) {
      const [face] = branch.sort;
      const [by] = face?.by ?? [];
      // The cases of plans cover sub-selects, whose parsing takes seconds.
      if (!face || !by || by.kind === 'scalar') continue;
      const key = branch.mappings[0]?.mapping.source.key.map(of => (of.type.kind === 'text' ? 'k' : 1)) ?? [];
      const last = { group: branch.group, branch: branch.ordinal, key, ordinal: 0, now: NOW };
      const cursor = { ...last, sort: [face.order.toKey(face.by.map(() => 5)) ?? 'key'] };
      const texts = [orderedPage(branch, sort, TRUE), orderedPage(branch, sort, afterCursor(branch, sort, cursor))];
      const { kind } = by;
      if (texts.join('').length < (shortest.get(kind)?.join('').length ?? Number.POSITIVE_INFINITY))
        shortest.set(kind, texts);
    }
  }
  expect([...shortest.keys()]).toEqual(expect.arrayContaining(['choice', 'first-piece', 'function']));
  expect([...shortest].flatMap(([kind, texts]) => texts.flatMap(tsqlProblems).map(one => `${kind} ${one}`))).toEqual(
    [],
  );
});
