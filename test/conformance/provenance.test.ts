/** Provenance of every clinical mapping: it can be read by its id, and its target by the reference. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Node } from '../../src/mapping/model.ts';
import { COMPARTMENT_TYPE, patientCompartmentOf } from '../../src/r4/search-parameters.ts';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

/** Lists of patients are in nobody's chart, and Provenance has no Provenance of its own. */
const OTHERS = ['Group', 'Provenance'];

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo(['Provenance']);
});
afterAll(() => demo.close());

test('every clinical mapping with a time of change is the target of a Provenance mapping', () => {
  const clinical = demo.registry.mappings.filter(
    ({ resource, changed }) =>
      changed !== undefined &&
      !OTHERS.includes(resource) &&
      (resource === COMPARTMENT_TYPE || patientCompartmentOf(resource).length > 0),
  );
  expect(clinical.length).toBeGreaterThan(40);
  const targets = new Set(demo.registry.ofType('Provenance').flatMap(({ root }) => targetsOf(root)));
  expect(clinical.map(({ name }) => name).filter(name => !targets.has(name))).toEqual([]);
});

test('one Provenance of each kind can be read, and its targets, the record first', async () => {
  const kinds = Map.groupBy(demo.resources.get('Provenance') ?? [], ({ id }) => id.replace(/-[^-]*\d.*$/, ''));
  expect(kinds.size).toBeGreaterThan(40);
  for (const [kind, [provenance]] of kinds) {
    const { status, body } = await read(`Provenance/${provenance?.id}`);
    expect(status, kind).toBe(200);
    expect(body['recorded'], kind).toBe(body.meta?.lastUpdated);
    const targets = body['target'] as readonly { readonly reference: string }[];
    expect(targets.length, kind).toBeGreaterThan(0);
    for (const [i, { reference }] of targets.entries()) {
      const target = await read(reference);
      expect(target.status, reference).toBe(200);
      if (i === 0) expect(target.body.meta?.lastUpdated, reference).toBe(body['recorded']);
    }
  }
});

async function read(reference: string): Promise<{ readonly status: number; readonly body: Resource }> {
  const response = await demo.app.request(`/fhir/${reference}`, { headers: { Accept: 'application/fhir+json' } });
  return { status: response.status, body: (await response.json()) as Resource };
}

/** Names of the mappings to which the references of `target` lead. */
function targetsOf(root: Node): readonly string[] {
  switch (root.kind) {
    case 'ref':
      return [root.target];
    case 'object':
      return root.members
        .flatMap(member => (member.kind === 'element' ? [member] : member.alternatives.flat()))
        .filter(({ name }) => name === 'target')
        .flatMap(({ node }) => targetsOf(node));
    case 'list':
      return root.items.flatMap(targetsOf);
    case 'first':
      return root.alternatives.flatMap(targetsOf);
    default:
      return [];
  }
}
