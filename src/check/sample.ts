/**
 * The resources that the sections of a check look at. In: the facade. Out: some resources of each mapping.
 */
import { allOf } from '../law/searches.ts';
import type { CheckContext, SampledResource } from './section.ts';

/** Resources per type. */
const PER_TYPE = 200;

export async function takeSample({
  facade,
  registry,
}: Pick<CheckContext, 'facade' | 'registry'>): Promise<readonly SampledResource[]> {
  const found: SampledResource[] = [];
  for (const type of registry.types) {
    const [mapping] = registry.ofType(type);
    if (!mapping) continue;
    for (const resource of await allOf(facade, type, [], PER_TYPE, PER_TYPE))
      found.push({ mapping, id: resource.id, json: JSON.stringify(resource), resource });
  }
  return found;
}
