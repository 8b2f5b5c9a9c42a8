/**
 * Includes, `_has` and chains follow the references that resources show: for each reference parameter all three are run
 * on the same resources, and compared with their JSON. https://hl7.org/fhir/R4/search.html#chaining
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { indexOf } from '../../src/law/oracle.ts';
import { allOf } from '../../src/law/searches.ts';
import { drawer, type Sample, sampleFor } from '../engines/sample.ts';
import { ASKS_ALL, shareOf } from '../share.ts';
import { type Demo, openDemo } from './demo.ts';

/** Number of resources of a type for the questions. */
const SOME = 30;

describe.each([
  ['of the fixture', {}],
  ['of rows that a careless decade has spoiled', { spoiled: { perMille: 60, seed: 5 } }],
])('references %s', (name, data) => {
  let demo: Demo;
  let sample: Sample;
  beforeAll(async () => {
    demo = await openDemo({ patients: 8, ...data });
    sample = sampleFor(demo.database, `references ${name}`);
  });
  afterAll(() => demo.close());

  const namesOf = async (type: string, parameters: readonly (readonly [string, string])[]) =>
    (await allOf(demo.facade, type, [...parameters, ['_elements', 'id']])).map(({ id }) => `${type}/${id}`).toSorted();

  async function included(
    type: string,
    parameters: readonly (readonly [string, string])[],
  ): Promise<readonly string[]> {
    const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
    const { json } = await demo.facade.search({ type, parameters }, context);
    const { entry = [] } = JSON.parse(json) as {
      readonly entry?: readonly {
        readonly resource: { readonly resourceType: string; readonly id: string };
        readonly search: { readonly mode: string };
      }[];
    };
    return entry
      .filter(({ search }) => search.mode === 'include')
      .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
      .toSorted();
  }

  test('are followed by _include, _revinclude, _has and chains', { timeout: 600_000 }, async () => {
    let asked = 0;
    for (const type of shareOf(drawer(sample)(demo.facade.offers.types), 2)) {
      const all = await allOf(demo.facade, type, [], 1000, 1000);
      const some = all.filter((_, i) => i % Math.ceil(all.length / SOME) === 0);
      const ids = ['_id', some.map(({ id }) => id).join()] as const;
      const here = new Set(some.map(({ id }) => `${type}/${id}`));
      const byAny = new Set<string>();
      for (const { parameter, targets } of demo.facade.offers.of(type)) {
        if (parameter.type !== 'reference' || targets.length === 0 || some.length === 0) continue;
        const { code, expression } = parameter;
        const shown = some.map(resource =>
          indexOf(resource, expression).flatMap(({ value }) => (value as { reference?: string }).reference ?? []),
        );
        const referred = [...new Set(shown.flat())].toSorted();
        for (const one of referred) if (!here.has(one)) byAny.add(one);
        const own = `${type}.${code}`;
        expect(await included(type, [ids, ['_include', `${type}:${code}`], ['_elements', 'id']]), own).toEqual(
          referred.filter(one => !here.has(one)),
        );
        for (const target of targets) {
          const wanted = referred.filter(one => one.startsWith(`${target}/`));
          expect(await namesOf(target, [[`_has:${type}:${code}:_id`, ids[1]]]), `_has:${own}`).toEqual(wanted);
          const few = wanted.filter((_, i) => i % 3 === 0);
          if (few.length === 0) continue;
          const refer = some.flatMap(({ id }, i) =>
            shown[i]?.some(one => few.includes(one)) ? [`${type}/${id}`] : [],
          );
          const chain = [`${code}:${target}._id`, few.map(one => one.slice(target.length + 1)).join()] as const;
          expect(await namesOf(type, [ids, chain]), `${own}:${target}._id`).toEqual(refer.toSorted());
          expect(await namesOf(type, [ids, [code, few.join()]]), `${own}=`).toEqual(refer.toSorted());
          asked++;
          // Many resources refer to each target, so two suffice.
          const two = few.slice(0, 2);
          const these = ['_id', two.map(one => one.slice(target.length + 1)).join()] as const;
          const whole = (await namesOf(type, [[code, two.join()]])).filter(one => !two.includes(one));
          // revincludes.test.ts tests truncated results.
          if (whole.length > 2000) continue;
          const back = ['_revinclude', `${type}:${code}:${target}`] as const;
          expect(await included(target, [these, back, ['_elements', 'id']]), back[1]).toEqual(whole);
          const all = await included(target, [these, ['_revinclude', `${type}:*`], ['_elements', 'id']]);
          expect(
            whole.filter(one => !all.includes(one)),
            `_revinclude=${type}:*`,
          ).toEqual([]);
        }
      }
      if (some.length === 0) continue;
      for (const every of ['*', '*:*', `${type}:*`]) {
        const found = await included(type, [ids, ['_include', every], ['_elements', 'id']]);
        expect(found, `${type}?_include=${every}`).toEqual([...byAny].toSorted());
      }
    }
    expect(asked).toBeGreaterThan(90 / sample.oneIn / (ASKS_ALL ? 1 : 3));
  });
});
