/** Plans that serve several ids and several pages: every answer equals that of a facade with an empty plan cache. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { RequestContext } from '../../src/facade.ts';
import { streamMatches } from '../../src/pipeline/page.ts';
import { openSession } from '../../src/pipeline/session.ts';
import { shapeStore } from '../../src/pipeline/shapes.ts';
import { branchesOf } from '../../src/plan/branches.ts';
import { ALL_RULES, environment } from '../../src/plan/environment.ts';
import { planKey } from '../../src/plan/reuse/plan-cache.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { renderedBy } from '../../src/sql/statement.ts';
import { weightOf } from '../../src/sql/walk.ts';
import { type Demo, openDemo } from '../law/demo.ts';

const CONTEXT: RequestContext = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' };

let demo: Demo;
const plans: SqlPlan[] = [];
beforeAll(async () => {
  demo = await openDemo({ patients: 6, onQuery: plan => plans.push(plan) });
});
afterAll(() => demo.close());

interface Found {
  readonly resource: { readonly id: string };
  readonly search: { readonly mode: string };
}

async function search(query: string, facade = demo.facade): Promise<readonly Found[]> {
  const [type = '', parameters = ''] = query.split('?');
  const { json } = await facade.search({ type, parameters: [...new URLSearchParams(parameters)] }, CONTEXT);
  return (JSON.parse(json).entry ?? []) as readonly Found[];
}

const idsOf = (found: readonly Found[]): readonly string[] => found.map(({ resource }) => resource.id);

test('a read returns what a search finds, whichever ids were read before', async () => {
  for (const type of demo.facade.registry.types) {
    const found = await search(`${type}?_count=40`);
    // Adjacent ids in this order differ in their mappings and id shapes.
    const order = found.map((entry, i) => ({ entry, place: (i * 17) % 41 })).sort((a, b) => a.place - b.place);
    expect(await demo.facade.read(type, '\u00000', [], CONTEXT)).toBeUndefined();
    for (const { entry } of order) {
      const { id } = entry.resource;
      const read = await demo.facade.read(type, id, [], CONTEXT);
      expect(JSON.parse(read?.json ?? 'null'), `${type}/${id}`).toEqual(entry.resource);
      for (const other of [`${id}0`, `0${id}`, id.slice(1), id.toUpperCase()]) {
        const wrong = await demo.facade.read(type, other, [], CONTEXT);
        if (wrong) expect(JSON.parse(wrong.json).id).toBe(other);
      }
    }
  }
});

test('a type named like a cache key of a search is an unknown type', async () => {
  const { filters, sort } = demo.facade.parse({ type: 'Observation', parameters: [] }, CONTEXT);
  await search('Observation?');
  const type = planKey('matches', [{ type: 'Observation', filters, sort }]);
  expect(() => demo.facade.read(type, 'any', [], CONTEXT)).toThrow('this server has no');
});

test('reads by ids of one form share a plan, with their own values', async () => {
  const ids = idsOf(await search('Observation?category=laboratory&_count=30')).filter(id => id.split('.').length === 3);
  expect(ids.length).toBeGreaterThan(5);
  plans.length = 0;
  for (const id of ids) await demo.facade.read('Observation', id, [], CONTEXT);
  expect(new Set(plans).size).toBe(1);
});

test('repeated searches for different patients find the same as with an empty plan cache', async () => {
  const patients = idsOf(await search('Patient?'));
  // With another rules object, even an equal one, nothing is cached.
  const planning = demo.withRules({ ...ALL_RULES });
  const queries = [
    (id: string) => `Observation?patient=${id}&category=vital-signs&_count=200`,
    (id: string) => `Condition?patient=Patient/${id}&_count=200`,
    (id: string) => `Encounter?subject=Patient/${id}&_sort=-date&_count=50`,
    (id: string) => `Patient?_id=${id},${patients[0]}`,
    (id: string) => `Patient?_has:Encounter:patient:status=finished&_id=${id}`,
    (id: string) => `MedicationRequest?patient=${id}&_total=accurate&_count=1`,
    (id: string) => `Observation?subject:Patient._id=${id}&_count=5`,
    (id: string) => `Observation?patient=${id}&_count=5&_include=Observation:encounter`,
    (id: string) => `Observation?patient=${id}&_count=5&_include=Observation:patient&_revinclude=Provenance:target`,
    (id: string) => `Observation?patient=${id}&_count=5&_include=Observation:subject:Patient&_include=Observation:*`,
  ];
  let some = 0;
  for (const query of queries) {
    for (const id of [...patients, patients[0] ?? '', 'nobody']) {
      const asked = query(id);
      const kept = await search(asked);
      expect(kept, asked).toEqual(await search(asked, planning));
      some += kept.length;
    }
  }
  expect(some).toBeGreaterThan(100);
});

test('cached plans continue pages after their own cursors', async () => {
  const patients = idsOf(await search('Patient?'));
  const walk = async (id: string, between?: () => Promise<unknown>): Promise<readonly string[]> => {
    const found: string[] = [];
    let parameters: readonly (readonly [string, string])[] = [
      ['patient', id],
      ['_count', '7'],
    ];
    for (;;) {
      const { json } = await demo.facade.search({ type: 'Observation', parameters }, CONTEXT);
      const { entry = [], link } = JSON.parse(json);
      found.push(...idsOf(entry));
      const next = link.find(({ relation }: { relation: string }) => relation === 'next');
      if (!next || found.length > 100) return found;
      parameters = [...new URL(next.url).searchParams];
      await between?.();
    }
  };
  const [one = '', two = ''] = patients;
  const alone = [await walk(one), await walk(two)];
  const mixed = [await walk(one, () => walk(two)), await walk(two, () => walk(one))];
  expect(mixed).toEqual(alone);
  expect(alone[0]?.length).toBeGreaterThan(14);
  expect(new Set(alone.flat()).size).toBe(alone.flat().length);
});

test('a reused plan never has the values of its first use', async () => {
  const [id = ''] = idsOf(await search('Patient?'));
  plans.length = 0;
  await demo.facade.read('Patient', id, [], CONTEXT);
  const [plan] = plans;
  if (!plan) throw new Error('nothing was asked');
  const statementOf = renderedBy(SQLITE);
  expect(() => statementOf(plan, undefined)).toThrow('without their values');
  expect(() => statementOf(plan, [])).toThrow('more placeholders');
  const [first, second] = [statementOf(plan, ['1', 2]), statementOf(plan, ['2', 2])];
  expect(second.text).toBe(first.text);
  expect(second.parameters).not.toEqual(first.parameters);
  expect(expressionKey({ kind: 'value', value: 1, type: { kind: 'integer', bits: 32 }, placeholder: 0 })).not.toBe(
    expressionKey({ kind: 'value', value: 1, type: { kind: 'integer', bits: 32 }, placeholder: 1 }),
  );
});

test('a parsed query is not reused for another caller, base URL or handling', async () => {
  const [id = ''] = idsOf(await search('Patient?'));
  const ask = async (parameters: readonly (readonly [string, string])[], context: Partial<RequestContext>) => {
    const { json } = await demo.facade.search({ type: 'Encounter', parameters }, { ...CONTEXT, ...context });
    return JSON.parse(json) as { readonly entry?: readonly Found[]; readonly link: readonly { url: string }[] };
  };
  const matches = ({ entry = [] }: { readonly entry?: readonly Found[] }) =>
    entry.filter(({ search: { mode } }) => mode === 'match').length;

  const unknown = [['colour', 'blue']] as const;
  for (let i = 0; i < 2; i++) {
    expect((await ask(unknown, { handling: 'lenient' })).entry?.at(0)?.search.mode).toBe('outcome');
    await expect(ask(unknown, {})).rejects.toThrow('colour');
  }
  const local = [['patient', `http://localhost/fhir/Patient/${id}`]] as const;
  for (let i = 0; i < 2; i++) {
    expect(matches(await ask(local, {}))).toBeGreaterThan(0);
    expect(matches(await ask(local, { base: 'http://elsewhere/fhir' }))).toBe(0);
  }
  const next = (await ask([['_count', '1']], {})).link.at(-1)?.url ?? '';
  const parameters = [...new URL(next).searchParams];
  const anna = { access: { kind: 'all', caller: 'anna' } } as const;
  expect(matches(await ask(parameters, {}))).toBe(1);
  await expect(ask(parameters, anna)).rejects.toThrow('not valid for this search');
  expect(matches(await ask(parameters.slice(0, 1), anna))).toBe(1);
});

test('a search by date is planned once, one with `ap` each time', async () => {
  const [one = '', two = ''] = idsOf(await search('Patient?'));
  const firstPlan = async (query: string, id: string): Promise<SqlPlan | undefined> => {
    plans.length = 0;
    await search(`${query}&patient=${id}`);
    return plans[0];
  };
  const isKept = async (query: string) => (await firstPlan(query, one)) === (await firstPlan(query, two));
  expect(await isKept('Encounter?date=ge2010-03-01&_count=5')).toBe(true);
  expect(await isKept('Encounter?date=ap2010-03-01&_count=5')).toBe(false);
});

test('a patient search with a key lookup is planned once per number of keys', async () => {
  const patients = idsOf(await search('Patient?'));
  const sent = new Map<string, readonly SqlPlan[]>();
  for (const id of patients) {
    plans.length = 0;
    await search(`Observation?patient=${id}&category=laboratory&date=ge1990&_count=5`);
    sent.set(id, [...plans]);
  }
  const all = [...sent.values()];
  // The statement for keys, and the one that reads the page.
  expect(all.every(list => list.length >= 2)).toBe(true);
  expect(new Set(all.flat()).size).toBeLessThan(all.flat().length / 2);
});

test('a plan that served a small page serves a large one, and a stream of lists', async () => {
  const whole = idsOf(await search('Observation?category=laboratory&_count=1000'));
  expect(whole.length).toBeGreaterThan(100);
  expect(idsOf(await search('Observation?category=laboratory&_count=3'))).toEqual(whole.slice(0, 3));
  expect(idsOf(await search('Observation?category=laboratory&_count=1000'))).toEqual(whole);
  expect(idsOf(await search('Observation?category=laboratory&_count=1'))).toEqual(whole.slice(0, 1));

  const { env, session } = streaming();
  const branches = branchesOf({ type: 'Condition', filters: [], sort: [] }, env);
  const keysOf = async (count: number): Promise<readonly string[]> => {
    const found: string[] = [];
    const request = { selection: { kind: 'all' }, count, cursor: undefined } as const;
    for await (const { matches } of streamMatches(branches, request, session)) {
      expect(matches.length).toBeLessThanOrEqual(count + 1);
      found.push(...matches.map(({ mapping, row }) => `${mapping.name} ${JSON.stringify(row)}`));
    }
    return found;
  };
  // The same branches, so that one search can use the plans of the other.
  const [small, large] = [await keysOf(2), await keysOf(50)];
  expect(small).toEqual(large);
  expect(new Set(small).size).toBe(small.length);
  expect(small.length).toBeGreaterThan(50);
});

function streaming() {
  const env = environment(demo.registry, 0, FULL_VISIBILITY);
  return { env, session: openSession(demo.database, env, shapeStore(), {}) };
}

test('the size of a plan excludes its mappings', () => {
  const { registry } = demo.facade;
  const env = environment(registry, 0, FULL_VISIBILITY);
  for (const type of registry.types)
    expect([type, weightOf(branchesOf({ type, filters: [], sort: [] }, env), 64e6) < 1e6]).toEqual([type, true]);
});
