/**
 * Loads the demo pack once for all files that a worker runs: loading takes a third of a second, and the result is
 * immutable. In: a catalog. Out: the registry over it.
 */
import { hash } from 'node:crypto';
import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import { PackMemory } from '../../src/mapping/load/pack/memory.ts';
import { loadPackFiles } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import type { Registry } from '../../src/mapping/model.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';

/** Registries by pack and catalog; catalogs differ in what the rows prove about the columns. */
const registries = new LRUCache<string, Registry>({ max: 4 });
/** What loading a pack over one catalog leaves for another: its texts are read and checked once. */
const memories = new LRUCache<string, PackMemory>({ max: 4 });

/** Loads the demo pack, or another folder whose files no test changes, without its lock. Throws if it has problems. */
export function registryOver(catalog: Catalog, pack = DEMO_PACK): Registry {
  const key = `${pack} ${hash('sha256', serialize(catalog), 'base64url')}`;
  const known = registries.get(key);
  if (known) return known;
  // Babelfish has DATETIME2(6) where the lock has DATETIME2(7).
  const packMemory = memories.get(pack) ?? new PackMemory();
  memories.set(pack, packMemory);
  const { registry, problems } = loadPackFiles({ ...readPackFiles(pack), lock: undefined }, catalog, { packMemory });
  if (!registry) throw new Error(problems.map(formatProblem).join('\n'));
  registries.set(key, registry);
  return registry;
}
