/**
 * The demo pack, read once for all files that a worker runs: to load it takes a third of a second, and what it becomes
 * is immutable. In: a catalog. Out: the registry over it.
 */
import { hash } from 'node:crypto';
import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import { loadPackFiles } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import type { Registry } from '../../src/mapping/model.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';

/** By pack and catalog; databases differ by what their rows prove of their columns. */
const registries = new LRUCache<string, Registry>({ max: 4 });

/**
 * The demo pack, or that of another folder whose files no test changes, without its lock. Throws where it is not sound.
 */
export function registryOver(catalog: Catalog, pack = DEMO_PACK): Registry {
  const key = `${pack} ${hash('sha256', serialize(catalog), 'base64url')}`;
  const known = registries.get(key);
  if (known) return known;
  // Babelfish has six digits of a DATETIME2(7), and the lock says seven.
  const { registry, problems } = loadPackFiles({ ...readPackFiles(pack), lock: undefined }, catalog);
  if (!registry) throw new Error(problems.map(formatProblem).join('\n'));
  registries.set(key, registry);
  return registry;
}
