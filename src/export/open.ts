/** Opens the export jobs of a configuration, with their folder and their limits. */
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import type { CountStatements } from '../observe/statements.ts';
import { type Jobs, openJobs } from './jobs.ts';
import type { PartSettings } from './part-task.ts';
import { openThreads, type Threads } from './threads.ts';

/** Settings that are the same for every server. */
export const SETTINGS: Omit<PartSettings, 'fileLines'> = {
  // More resources at once outlive the young generation of a thread's heap, which costs more than it saves.
  batch: 500,
  // Milliseconds of work that a crash may cost.
  checkpoint: 1000,
};

type ExportConfig = Pick<Config, 'database' | 'dataDir' | 'mappings' | 'degraded' | 'page' | 'export'>;

/** Opens the threads that a configuration asks for. `count` is called with the statements that they send. */
export function exportThreads(
  { database, dataDir, mappings, degraded, page, export: limits }: ExportConfig,
  count?: CountStatements,
): Threads {
  return openThreads({ database, dataDir, mappings, degraded, page }, limits.concurrency, count);
}

/**
 * Opens the jobs; those of the same mappings that a stopped server left behind continue at once. `instead` overrides
 * the defaults here.
 */
export function openExports(
  config: ExportConfig,
  pack: () => PackFiles,
  log: Log,
  instead: { readonly root?: string; readonly settings?: Partial<PartSettings>; readonly threads?: Threads } = {},
): Jobs {
  const { dataDir, export: limits } = config;
  const { root = join(dataDir, 'export') } = instead;
  return openJobs({
    root,
    inUse:
      instead.root === undefined
        ? `DATA_DIR: another server uses ${dataDir}; stop it, or give this one a folder of its own (and a PORT)`
        : `another lintel export writes into ${dirname(root)}; wait for it, or name another folder`,
    pack,
    threads: instead.threads ?? exportThreads(config),
    limits,
    settings: { ...SETTINGS, fileLines: limits.fileLines, ...instead.settings },
    log,
  });
}
