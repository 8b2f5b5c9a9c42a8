/**
 * The resources that the sections of a check look at. In: the pack and the database. Out: some resources of each mapping.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { emitAll } from '../pipeline/emitted.ts';
import { readPage } from '../pipeline/page.ts';
import { planResolved } from '../pipeline/resolve.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import { openSession } from '../pipeline/source.ts';
import { branchesOf } from '../plan/branches.ts';
import { environment } from '../plan/environment.ts';
import type { CheckContext, SampledResource } from './section.ts';

/** Resources per mapping; a variant is a mapping. */
const PER_MAPPING = 25;

type Asking = Pick<CheckContext, 'database' | 'registry' | 'now' | 'signal'>;

/** Throws DatabaseError. */
export async function takeSample(asking: Asking, perMapping = PER_MAPPING): Promise<readonly SampledResource[]> {
  const found: SampledResource[] = [];
  for (const mapping of asking.registry.mappings) found.push(...(await resourcesOf(mapping, perMapping, asking)));
  return found;
}

async function resourcesOf(
  mapping: Mapping,
  count: number,
  { database, registry, now, signal }: Asking,
): Promise<readonly SampledResource[]> {
  const session = openSession(database, environment(registryOf(registry, mapping), now), shapeStore(), { signal });
  const { resource: type } = mapping;
  const asked = { type, filters: [], sort: [], access: OPEN_ACCESS };
  const branches = await planResolved(session, env => branchesOf(asked, env));
  const wanted = { sort: [], selection: { kind: 'all' }, count, cursor: undefined, places: [] } as const;
  const { matches } = await readPage(branches, wanted, session);
  const context = { base: 'http://localhost/fhir', now, zone: registry.pack.zone };
  const emitted = await emitAll(matches, context, session);
  return emitted.flatMap(({ json, id }) => (json === '' ? [] : [{ mapping, id, json, resource: JSON.parse(json) }]));
}

/** A registry whose resources of a type are those of one mapping; references go where they went. */
function registryOf(registry: Registry, mapping: Mapping): Registry {
  const { resource } = mapping;
  return { ...registry, ofType: type => (type === resource ? [mapping] : registry.ofType(type)) };
}
