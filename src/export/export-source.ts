/**
 * Opens what an export reads: a database connection of its own, with the mappings over it. In: the server's
 * configuration without page links.
 */
import type { Config } from '../config/config.ts';
import { problemLine } from '../mapping/load/problem.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import type { Database } from '../sql/database.ts';
import { type Announce, facadeOf, openDatabase, setUp } from '../start/setup.ts';
import type { PartSource } from './part-task.ts';

export type SourceConfig = Pick<Config, 'database' | 'dataDir' | 'mappings' | 'degraded' | 'page'>;

/** Little memory: an export reads every row once, and only indexes of targets repeatedly. */
const MEMORY = { cache: 4096 };

/** The mappings have errors, which `announce` has reported. */
export class PackError extends Error {
  override readonly name = 'PackError';
}

/**
 * Opens the source. `files`: the pack, if it must not be read again. `announce` gets the errors of the mappings.
 * `watched` wraps each database that is opened. Throws PackError, and DatabaseError while the database is unreachable.
 */
export async function openSource(
  own: SourceConfig,
  files?: PackFiles,
  announce: Announce = () => {},
  watched: (database: Database) => Database = database => database,
): Promise<PartSource> {
  const config = { ...own, memory: MEMORY };
  const { database: first, pack, changed } = await setUp(config, announce, files);
  for (const problem of pack.problems) if (problem.severity === 'error') announce(problemLine(problem));
  if (pack.registry === undefined) {
    await first.close();
    throw new PackError('the mappings have errors, or the database lacks what they need');
  }
  let database = watched(first);
  const { registry } = pack;
  const facade = facadeOf(registry, first, changed, { page: config.page, linkSecret: new Uint8Array(32) });
  return {
    registry,
    parse: facade.parse,
    visibility: facade.visibility,
    shapes: shapeStore(),
    database: () => database,
    async reopen() {
      const opened = await openDatabase(config, () => {});
      await database.close();
      database = watched(opened);
    },
  };
}
