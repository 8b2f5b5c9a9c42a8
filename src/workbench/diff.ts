/**
 * Compares two packs over the same database from a caller's view. In: both facades. Out: for each type the number of
 * resources, the searches that are added and removed, and, for a sample of ids, how many resources are added, removed
 * or changed, with the elements. The sample has rows of each mapping of either pack, unusual ones first, like that of
 * `lintel check`, because the first resources of a type may all come from one mapping. It outputs no values.
 */

import { OPEN_CONTEXT } from '../auth/access.ts';
import { takeSample } from '../check/sample.ts';
import { getOrInsert } from '../common/caches.ts';
import type { Facade } from '../facade.ts';
import { allOf, type Resource } from '../law/searches.ts';
import type { Parameters } from '../search/query.ts';
import { type Database, within } from '../sql/database.ts';

export interface PackDifference {
  /** Number of compared resources of all types. */
  readonly compared: number;
  /** Types that differ. */
  readonly types: readonly TypeDifference[];
  /** Sources that the time limit did not reach. */
  readonly unreached: readonly string[];
}

export interface TypeDifference {
  readonly type: string;
  /** Number of resources of each pack in the whole database. */
  readonly resources: { readonly old: number; readonly new: number };
  readonly searches: { readonly gone: readonly string[]; readonly added: readonly string[] };
  readonly sample: {
    /** Number of compared ids. */
    readonly compared: number;
    readonly gone: number;
    readonly added: number;
    readonly changed: number;
  };
  /** Elements without list indexes, each with the number of resources in which it differs, largest first. */
  readonly elements: readonly ElementDifference[];
}

export interface ElementDifference {
  readonly path: string;
  readonly gone: number;
  readonly added: number;
  readonly changed: number;
}

export interface Diffing {
  readonly old: Facade;
  readonly new: Facade;
  readonly database: Database;
  /** Rows per source and pack. */
  readonly sample: number;
  /** Time limit in milliseconds for the sample of a pack. */
  readonly milliseconds: number;
  /** Called with each type before it is compared. */
  readonly onType: (type: string) => void;
}

/** Ids per search. */
const IDS = 50;
/** Fixed seed, so that each run draws the same rows. */
const SEED = 1;

/** Returns the types that differ, in alphabetical order. Rejects with DatabaseError. */
export async function differenceOf(diffing: Diffing): Promise<PackDifference> {
  const { old, new: now, onType } = diffing;
  const types = [...new Set([...old.offers.types, ...now.offers.types])].toSorted();
  const samples = [await sampleOf(old, diffing), await sampleOf(now, diffing)];
  const differences: TypeDifference[] = [];
  let compared = 0;
  for (const type of types) {
    onType(type);
    const ids = new Set(samples.flatMap(({ byType }) => byType.get(type) ?? []));
    // The server's own resources have no rows.
    for (const facade of [old, now])
      if (!facade.registry.types.includes(type))
        for (const id of await firstIds(type, facade, diffing.sample)) ids.add(id);
    const one = await typeDifference(type, old, now, [...ids]);
    compared += one.sample.compared;
    if (differs(one)) differences.push(one);
  }
  return { compared, types: differences, unreached: [...new Set(samples.flatMap(({ unreached }) => unreached))] };
}

/** Returns ids of a pack's resources by type, with rows of each of its mappings. */
async function sampleOf(
  facade: Facade,
  { database, sample, milliseconds }: Diffing,
): Promise<{ readonly byType: ReadonlyMap<string, readonly string[]>; readonly unreached: readonly string[] }> {
  const { registry } = facade;
  const signal = within(milliseconds);
  const { mappings } = registry;
  const asking = {
    registry,
    mappings,
    database,
    facade,
    now: Date.now(),
    seed: SEED,
    all: false,
    signal,
    refused: () => false,
    perSource: sample,
  };
  const { resources, unreached } = await takeSample(asking, () => {});
  const byType = Map.groupBy(resources, ({ mapping }) => mapping.resource);
  return { byType: new Map([...byType].map(([type, of]) => [type, of.map(({ id }) => id)])), unreached };
}

function differs({ resources, searches, sample }: TypeDifference): boolean {
  const numbers = [resources.old - resources.new, sample.gone, sample.added, sample.changed];
  return numbers.some(one => one !== 0) || searches.gone.length + searches.added.length > 0;
}

async function typeDifference(type: string, old: Facade, now: Facade, ids: readonly string[]): Promise<TypeDifference> {
  const counts = { compared: ids.length, gone: 0, added: 0, changed: 0 };
  const elements = new Map<string, { gone: number; added: number; changed: number }>();
  for (let at = 0; at < ids.length; at += IDS) {
    const some = ids.slice(at, at + IDS);
    const [before, after] = [await resourcesOf(type, old, some), await resourcesOf(type, now, some)];
    for (const id of some) {
      const [was, is] = [before.get(id), after.get(id)];
      if (was === undefined || is === undefined) {
        if (was !== undefined) counts.gone += 1;
        if (is !== undefined) counts.added += 1;
        continue;
      }
      const own = elementsThatDiffer(was, is);
      if (own.size > 0) counts.changed += 1;
      for (const [path, how] of own) {
        const known = getOrInsert(elements, path, () => ({ gone: 0, added: 0, changed: 0 }));
        known[how] += 1;
      }
    }
  }
  const offered = (facade: Facade): readonly string[] => facade.offers.of(type).map(({ parameter }) => parameter.code);
  const total = ({ gone, added, changed }: Omit<ElementDifference, 'path'>): number => gone + added + changed;
  return {
    type,
    resources: { old: await countOf(type, old), new: await countOf(type, now) },
    searches: {
      gone: offered(old).filter(code => !offered(now).includes(code)),
      added: offered(now).filter(code => !offered(old).includes(code)),
    },
    sample: counts,
    elements: [...elements]
      .map(([path, how]) => ({ path, ...how }))
      .toSorted((a, b) => total(b) - total(a) || (a.path < b.path ? -1 : 1)),
  };
}

function serves(type: string, facade: Facade): boolean {
  return facade.offers.types.includes(type);
}

/** Returns the resources that a search finds, up to a maximum. */
async function found(type: string, facade: Facade, query: Parameters, most: number): Promise<readonly Resource[]> {
  return serves(type, facade) ? (await allOf(facade, type, query, most, most)).slice(0, most) : [];
}

async function firstIds(type: string, facade: Facade, most: number): Promise<readonly string[]> {
  return (await found(type, facade, [], most)).map(({ id }) => id);
}

async function resourcesOf(
  type: string,
  facade: Facade,
  ids: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const resources = await found(type, facade, [['_id', ids.join()]], ids.length);
  return new Map(resources.map(resource => [resource.id, resource]));
}

async function countOf(type: string, facade: Facade): Promise<number> {
  if (!serves(type, facade)) return 0;
  const { json } = await facade.search({ type, parameters: [['_summary', 'count']] }, OPEN_CONTEXT);
  return (JSON.parse(json) as { readonly total?: number }).total ?? 0;
}

/** Returns the elements in which two versions of a resource differ. */
function elementsThatDiffer(was: unknown, is: unknown): ReadonlyMap<string, 'gone' | 'added' | 'changed'> {
  const [before, after] = [primitivesOf(was), primitivesOf(is)];
  const found = new Map<string, 'gone' | 'added' | 'changed'>();
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === now) continue;
    found.set(path, old === undefined ? 'added' : now === undefined ? 'gone' : 'changed');
  }
  return found;
}

/** Returns the values of each element, across all list items in order. */
function primitivesOf(resource: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, path);
    else if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) visit(part, path === '' ? name : `${path}.${name}`);
    else found.set(path, `${found.get(path) ?? ''}${JSON.stringify(value)},`);
  };
  visit(resource, '');
  return found;
}
