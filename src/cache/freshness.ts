/**
 * Determines how the cache notices changes, for one version of the mappings. In: mappings, catalog, database. Out: the
 * watermarks of tables, and the tables whose rows change their meaning over time.
 */
import type { Registry } from '../mapping/model.ts';
import type { Catalog } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import { timedTables, watermarkPlans } from './watched.ts';
import { createWatermarks, type Watermarks } from './watermarks.ts';

export interface Freshness {
  readonly watermarks: Watermarks;
  readonly timed: ReadonlySet<string>;
}

/** `clock`: milliseconds of a monotonic clock. */
export function freshnessOf(
  registry: Registry,
  catalog: Catalog,
  database: Pick<Database, 'query'>,
  clock: () => number = () => performance.now(),
): Freshness {
  const read = [...watermarkPlans(registry, catalog)].map(
    ([table, plan]) => [table, async () => JSON.stringify(await database.query(plan))] as const,
  );
  return { watermarks: createWatermarks(new Map(read), clock), timed: timedTables(registry) };
}
