/**
 * Reads the first resources of one mapping, without other mappings of its type. In: a mapping and a number. Out: their
 * texts, in the order of the mapping's key.
 */
import type { Mapping, Registry } from '../mapping/model.ts';
import { branchesOf } from '../plan/branches.ts';
import { environment } from '../plan/environment.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import type { Database } from '../sql/database.ts';
import { emitAll } from './emitted.ts';
import { readPage } from './page.ts';
import { planResolved } from './plans.ts';
import { openSession } from './session.ts';
import { shapeStore } from './shapes.ts';

export interface OfMapping {
  readonly database: Database;
  readonly registry: Registry;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly signal?: AbortSignal;
}

/** Returns the resources. Throws DatabaseError. */
export async function firstOfMapping(
  mapping: Mapping,
  count: number,
  { database, registry, now, signal }: OfMapping,
): Promise<readonly { readonly id: string; readonly json: string }[]> {
  const session = openSession(
    database,
    environment(registryOf(registry, mapping), now, FULL_VISIBILITY),
    shapeStore(),
    {
      signal,
    },
  );
  const asked = { type: mapping.resource, filters: [], sort: [] };
  const branches = await planResolved(session, env => branchesOf(asked, env));
  const wanted = { sort: [], selection: { kind: 'all' }, count, cursor: undefined } as const;
  const { matches } = await readPage(branches, wanted, session);
  const context = { base: 'http://localhost/fhir', now, zone: registry.pack.zone };
  return emitAll(matches, context, session);
}

/** Returns a registry in which the type has only this mapping; references still lead to the same mappings. */
function registryOf(registry: Registry, mapping: Mapping): Registry {
  const { resource } = mapping;
  return { ...registry, ofType: type => (type === resource ? [mapping] : registry.ofType(type)) };
}
