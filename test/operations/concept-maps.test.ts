import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { createRegistry } from '../../src/mapping/model.ts';
import { conceptMapsOf } from '../../src/operations/code-map-resources.ts';
import type { Json } from '../../src/validation/item.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { type Demo, openDemo } from '../law/demo.ts';

const CONTEXT = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
const PACK = { name: 'p', title: 'P', zone: 'UTC', systems: {} };

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 1 });
});
afterAll(() => demo.close());

async function found(name: string, value: string): Promise<readonly string[]> {
  const { json } = await demo.facade.search(
    {
      type: 'ConceptMap',
      parameters: [
        [name, value],
        ['_count', '1000'],
      ],
    },
    CONTEXT,
  );
  const bundle = JSON.parse(json) as { entry?: readonly { resource: { id: string } }[] };
  return (bundle.entry ?? []).map(({ resource }) => resource.id);
}

describe('the code maps of a pack', () => {
  test('are valid ConceptMaps with ids, urls and names of their own', () => {
    const made = conceptMapsOf(demo.registry);
    expect(made.length).toBe(demo.registry.codeMaps.length);
    for (const { type, id, content } of made) {
      expect(id).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
      expect(content['name']).toMatch(/^[A-Z][A-Za-z0-9_]{0,254}$/);
      expect(validateResource({ resourceType: type, id, ...content } as Json)).toEqual([]);
    }
    expect(new Set(made.map(({ content }) => content['url'])).size).toBe(made.length);
  });

  test('are read by id and found by url, name and status', async () => {
    const read = await demo.facade.read('ConceptMap', 'confidentiality', [], CONTEXT);
    const { url, name } = JSON.parse(read?.json ?? '{}') as { url: string; name: string };
    expect(await found('url', url)).toEqual(['confidentiality']);
    expect(await found('name', name)).toContain('confidentiality');
    expect((await found('status', 'active')).length).toBe(demo.registry.codeMaps.length);
    expect(await found('status', 'draft')).toEqual([]);
  });

  test('have each value with its code, blank, values without meaning, and the fallback', () => {
    const system = 'http://example.org/a';
    const rows = new Map([
      ['A', { code: 'active', system, display: 'Active' }],
      ['E', undefined],
      ['X  Y', { code: 'x', system: 'http://example.org/b' }],
    ]);
    const blank = { code: 'active', system };
    const map = { name: 'some map', rows, blank, else: { kind: 'local', system } as const, fold: false };
    const [first, second] = conceptMapsOf(createRegistry(PACK, [], 'v', [map, { ...map, name: 'some_map' }]));
    expect([first?.id, second?.id]).toEqual(['some-map', 'some-map-2']);
    const coded = { ...map, else: { kind: 'code', coded: { code: 'other', system } } as const };
    const [last] = conceptMapsOf(createRegistry(PACK, [], 'v', [coded]));
    expect(last?.content['group']).toMatchObject([
      { target: system, unmapped: { mode: 'fixed', code: 'other' } },
      expect.not.objectContaining({ unmapped: expect.anything() }),
    ]);
    expect(first?.content['group']).toEqual([
      {
        target: system,
        element: [
          { code: 'A', target: [{ code: 'active', display: 'Active', equivalence: 'equivalent' }] },
          { code: 'E', target: [{ equivalence: 'unmatched' }] },
          { display: 'NULL or blank', target: [{ code: 'active', equivalence: 'equivalent' }] },
        ],
        unmapped: { mode: 'provided' },
      },
      {
        target: 'http://example.org/b',
        element: [{ display: 'X  Y', target: [{ code: 'x', equivalence: 'equivalent' }] }],
      },
    ]);
  });
});
