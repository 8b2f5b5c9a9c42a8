/** Searches by codes and categories recur: their meaning for a mapping is computed once and cached, within bounds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registry } from '../../src/mapping/model.ts';
import { environment } from '../../src/plan/environment.ts';
import { filterPredicate } from '../../src/plan/filter.ts';
import { forInstants } from '../../src/plan/reuse/moments.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { searchParametersOf } from '../../src/r4/search-parameters.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 1 });
});
afterAll(() => demo.close());

/** A registry with an empty cache. */
const fresh = (): Registry => Object.create(demo.registry);

/** Returns a function that makes the predicate of a search by codes for the rows of a mapping. */
function made(type = 'Condition', name = 'code', registry = fresh()): (...codes: string[]) => Predicate | undefined {
  const [mapping] = registry.ofType(type);
  const parameter = searchParametersOf(type).find(({ code }) => code === name);
  if (!mapping || !parameter) throw new Error(`the demo has no ${type}?${name}`);
  const env = environment(registry, 0, FULL_VISIBILITY);
  return (...codes) => {
    const values = codes.map(code => ({ kind: 'token', system: undefined, code }) as const);
    const filter = { kind: 'match', parameter, modifier: undefined, values } as const;
    return forInstants(env, within => filterPredicate(mapping, filter, within)).made;
  };
}

test('the predicate of a code is made once', () => {
  const of = made();
  expect(of('E11')).toBeDefined();
  expect(of('E11')).toBe(of('E11'));
  expect(of('E11', 'E12')).toBe(of('E11', 'E12'));
  expect(of('E11', 'E12')).not.toBe(of('E11'));
});

test('another parameter has another predicate for the same code', () => {
  const registry = fresh();
  made('Condition', 'code', registry)('active');
  const ofStatus = made('Condition', 'clinical-status', registry)('active');
  expect(ofStatus).toEqual(made('Condition', 'clinical-status')('active'));
});

test('the predicate of a long list of codes is not cached', () => {
  const of = made();
  const codes = Array.from({ length: 40 }, (_, i) => `code-${i}`);
  expect(of(...codes)).toEqual(of(...codes));
  expect(of(...codes)).not.toBe(of(...codes));
});

test.each([
  // About 34 kB each.
  ['bytes', 'Condition', 'code', 'nowhere-', 100, 1000],
  ['their number', 'Patient', 'identifier', '90', 1000, 2500],
])('the cache of predicates is bounded by %s', (_, type, name, prefix, least, most) => {
  const of = made(type, name);
  for (const round of ['first', 'second']) {
    const first = of(prefix);
    let others = 0;
    while (of(prefix) === first && others < 5000) of(`${prefix}${round}-${others++}`);
    expect(others).toBeGreaterThan(least);
    expect(others).toBeLessThan(most);
  }
});
