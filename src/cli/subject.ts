/**
 * Describes what a command works on, for the first lines of its output. In: the configuration and the pack. Out: the
 * pack with its folder, and the database without user and password.
 */
import type { Config } from '../config/config.ts';
import type { Pack } from '../mapping/model.ts';
import { engineNamed } from '../sql/engines.ts';

/** Returns `Pack      small (my-clinic)` and `Database  SQLite, my-clinic/clinic.sqlite`. */
export function subjectLines(
  { mappings, database }: Pick<Config, 'mappings' | 'database'>,
  { name }: Pick<Pack, 'name'>,
): readonly string[] {
  return [`Pack      ${name} (${mappings})`, `Database  ${databaseText(database)}`];
}

/** Returns the engine and the file or host; never a user or a password. */
export function databaseText(database: Config['database']): string {
  if (database === undefined) return 'SQLite, the demo database';
  const { title, describe } = engineNamed(database.engine);
  return `${title}, ${describe(database)}`;
}
