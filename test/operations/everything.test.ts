/**
 * Compares `$everything` with the definition of the compartment, read independently of the planner: searches by each of
 * its parameters, and the references in their results.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import type { RecordOperation } from '../../src/operations/record-operations.ts';
import { patientCompartmentOf } from '../../src/r4/search-parameters.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { allPages, CONTEXT, namesOf, type Pages, type Parameters, type Resource } from './pages.ts';

let demo: Demo;
let operation: RecordOperation;
beforeAll(async () => {
  demo = await openDemo({ patients: 8 });
  const found = demo.facade.recordOperations.find(({ code }) => code === 'everything');
  if (!found) throw new Error('Expected $everything to be offered');
  operation = found;
});
afterAll(() => demo.close());

const everything = (id: string, parameters: Parameters): Promise<Pages> =>
  allPages(page => demo.facade.operate(operation, id, page, CONTEXT), parameters);

const search = async (type: string, parameters: Parameters): Promise<readonly Resource[]> =>
  (await allPages(page => demo.facade.search({ type, parameters: page }, CONTEXT), parameters)).matches;

/** Device has a patient too, although the definition lacks it; Groups list other patients. */
function parametersOf(type: string): readonly string[] {
  if (type === 'Device') return ['patient'];
  return type === 'Group' ? [] : patientCompartmentOf(type);
}

async function compartment(id: string): Promise<readonly Resource[]> {
  const found = new Map<string, Resource>();
  for (const type of demo.registry.types) {
    if (type === 'Patient') continue;
    for (const code of parametersOf(type)) {
      if (!demo.facade.offers.find(type, code)) continue;
      const own = await search(type, [
        [code, `Patient/${id}`],
        ['_count', '1000'],
      ]);
      for (const resource of own) found.set(`${type}/${resource.id}`, resource);
    }
  }
  return [...(await search('Patient', [['_id', id]])), ...found.values()];
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();

/** Local references at any depth of some resources. */
const references = (resources: readonly Resource[]): readonly string[] =>
  [...JSON.stringify(resources).matchAll(/"reference":"([A-Za-z]+\/[A-Za-z0-9.-]+)"/g)].map(([, name]) => name ?? '');

describe('$everything of a patient', () => {
  test.each(['1', '3'])('returns the compartment and referenced resources outside of it: patient %s', async id => {
    const whole = await everything(id, [['_count', '1000']]);
    const expected = await compartment(id);
    expect(sorted(namesOf(whole.matches))).toEqual(sorted(namesOf(expected)));
    expect(whole.matches.length).toBe(new Set(namesOf(whole.matches)).size);
    const there = new Set([...namesOf(whole.matches), ...namesOf(whole.included)]);
    const bound = (name: string) => {
      const type = name.slice(0, name.indexOf('/'));
      return type === 'Patient' || type === 'Group' || parametersOf(type).length > 0;
    };
    const wanted = references([...whole.matches, ...whole.included]).filter(name => !bound(name));
    expect(wanted.length).toBeGreaterThan(10);
    expect(wanted.filter(name => !there.has(name))).toEqual([]);
    expect(namesOf(whole.included).filter(bound)).toEqual([]);
  });

  test('returns the same in small and large pages, with links to the operation', async () => {
    const large = await everything('1', [['_count', '1000']]);
    const small = await everything('1', [['_count', '137']]);
    expect(small.count).toBeGreaterThan(10);
    expect(namesOf(small.matches)).toEqual(namesOf(large.matches));
    expect(sorted(namesOf(small.included))).toEqual(sorted(namesOf(large.included)));
    for (const url of small.next) expect(url).toContain('/fhir/Patient/1/$everything?_count=137&_cursor=');
  });

  test('returns the patient first', async () => {
    expect(namesOf((await everything('1', [['_count', '1000']])).matches)[0]).toBe('Patient/1');
  });

  test('has no other patient, and a Group only if _type names it', async () => {
    const whole = await everything('1', [['_count', '1000']]);
    const patients = whole.matches.filter(({ resourceType }) => resourceType === 'Patient');
    expect(namesOf(patients)).toEqual(['Patient/1']);
    expect(whole.matches.some(({ resourceType }) => resourceType === 'Group')).toBe(false);
  });

  test('_type excludes other types, also of referenced resources', async () => {
    const some = await everything('1', [['_type', 'Encounter,Practitioner']]);
    expect(new Set(some.matches.map(({ resourceType }) => resourceType))).toEqual(new Set(['Encounter']));
    expect(new Set(some.included.map(({ resourceType }) => resourceType))).toEqual(new Set(['Practitioner']));
    const none = await everything('1', [['_type', 'Encounter']]);
    expect(none.included).toEqual([]);
    expect(namesOf(none.matches)).toEqual(namesOf(some.matches));
  });

  test('_since excludes resources last changed before, and no others', async () => {
    const since = '2026-01-01T00:00:00Z';
    const whole = await everything('1', [['_count', '1000']]);
    const recent = await everything('1', [
      ['_since', since],
      ['_count', '1000'],
    ]);
    const kept = whole.matches.filter(({ resourceType, meta }) => {
      const changed = meta?.lastUpdated;
      return resourceType === 'Patient' || changed === undefined || Date.parse(changed) >= Date.parse(since);
    });
    expect(recent.matches.length).toBeLessThan(whole.matches.length);
    expect(sorted(namesOf(recent.matches))).toEqual(sorted(namesOf(kept)));
  });

  test('start and end exclude earlier and later care, and keep undated resources', async () => {
    const range: Parameters = [
      ['start', '2025-07-01'],
      ['end', '2026-01-31'],
      ['_type', 'Observation,Encounter,Coverage'],
      ['_count', '1000'],
    ];
    const { matches } = await everything('1', range);
    const of = (type: string) => matches.filter(({ resourceType }) => resourceType === type);
    const before = new Set(
      namesOf(
        await search('Observation', [
          ['patient', '1'],
          ['date', 'eb2025-07-01'],
          ['_count', '1000'],
        ]),
      ),
    );
    const after = new Set(
      namesOf(
        await search('Observation', [
          ['patient', '1'],
          ['date', 'sa2026-01-31'],
          ['_count', '1000'],
        ]),
      ),
    );
    const all = namesOf(
      await search('Observation', [
        ['patient', '1'],
        ['_count', '1000'],
      ]),
    );
    expect(sorted(namesOf(of('Observation')))).toEqual(
      sorted(all.filter(name => !before.has(name) && !after.has(name))),
    );
    expect(before.size).toBeGreaterThan(0);
    expect(after.size).toBeGreaterThan(0);
    expect(of('Coverage').length).toBeGreaterThan(0);
  });

  test('an unknown patient is 404, and a page link of one patient is refused for another', async () => {
    await expect(everything('nobody', [])).rejects.toMatchObject({ code: 'not-found' });
    const [link] = (await everything('1', [['_count', '500']])).next;
    const cursor = new URL(link ?? '').searchParams.get('_cursor') ?? '';
    const moved: Parameters = [
      ['_count', '500'],
      ['_cursor', cursor],
    ];
    await expect(everything('2', moved)).rejects.toMatchObject({ code: 'value' });
  });

  test('a caller who may see other patients only gets 404', async () => {
    const context = { ...CONTEXT, access: accessToPatients('x', ['2']) };
    await expect(demo.facade.operate(operation, '1', [], context)).rejects.toMatchObject({ code: 'not-found' });
    const own = JSON.parse((await demo.facade.operate(operation, '2', [], context)).json);
    expect(own.entry.length).toBeGreaterThan(1);
  });

  test.each([
    [['start', 'yesterday'], 'value'],
    [['_since', '2026-13-01'], 'value'],
    [['_type', 'Nothing'], 'not-supported'],
    [['_type', 'Practitioner'], 'not-supported'],
    [['name', 'x'], 'not-supported'],
  ] as const)('unsupported parameters are refused by name: %s', async (parameter, code) => {
    const refused = expect(everything('1', [parameter])).rejects;
    await refused.toMatchObject({ code, issues: [{ expression: `http.${parameter[0]}` }] });
  });

  test('it has the same limits on parameters as a search', async () => {
    const types = (count: number): Parameters => Array.from({ length: count }, () => ['_type', 'Condition']);
    expect((await everything('1', types(90))).matches.length).toBeGreaterThan(0);
    await expect(everything('1', types(110))).rejects.toMatchObject({ code: 'too-costly' });
    await expect(everything('1', [['_type', 'Condition,'.repeat(400)]])).rejects.toMatchObject({
      code: 'not-supported',
    });
    await expect(everything('1', [['_type', 'Condition,'.repeat(501)]])).rejects.toMatchObject({ code: 'too-costly' });
  });
});
