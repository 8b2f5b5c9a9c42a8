/**
 * Runs a function with a database, or with a pack and its database. In: the configuration. Closes the database
 * afterwards.
 */
import type { Config } from '../config/config.ts';
import { problemLine } from '../mapping/load/problem.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import type { Registry } from '../mapping/model.ts';
import type { Database } from '../sql/database.ts';
import { openDatabase, type Setup, setUp } from '../start/setup.ts';
import { refuse, type Terminal } from './command.ts';

/** Runs a function with the database, for commands that need no pack or only a part of one. */
export async function withDatabase<T>(
  config: Config,
  terminal: Terminal,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(config, terminal.note);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

export type LoadedSetup = Setup & { readonly registry: Registry };

/** Resolves to undefined if the pack has errors, which are reported. `files`: the pack, if it was read before. */
export async function withPack<T>(
  config: Config,
  terminal: Terminal,
  use: (setup: LoadedSetup) => Promise<T>,
  files?: PackFiles,
): Promise<T | undefined> {
  const setup = await setUp(config, terminal.note, files);
  try {
    const { registry, problems } = setup.pack;
    if (registry !== undefined) return await use({ ...setup, registry });
    refuse(problems.map(problemLine), terminal);
    return undefined;
  } finally {
    await setup.database.close();
  }
}
