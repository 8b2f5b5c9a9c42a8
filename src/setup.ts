/**
 * From a Config to what a server or a command works with: the database opened, the pack loaded against its schema.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { demoDatabase } from './demo.ts';
import { createFacade, type Facade } from './facade.ts';
import { type LoadedPack, loadPack } from './mapping/load/pack.ts';
import type { Registry } from './mapping/model.ts';
import type { Catalog } from './sql/catalog.ts';
import type { Database } from './sql/database.ts';
import { DatabaseError } from './sql/database.ts';
import { openSqlite } from './sql/sqlite/database.ts';

/** Says what takes a while. */
export type Announce = (what: string) => void;

/** The configured database, or the demo's, which is built where there is none. Throws DatabaseError. */
export async function openDatabase(
  config: Pick<Config, 'database' | 'dataDir'>,
  announce: Announce,
): Promise<Database> {
  const { database } = config;
  if (database === undefined) return openSqlite(await demoDatabase(config.dataDir, announce));
  switch (database.engine) {
    case 'sqlite':
      return openSqlite(database.file);
    case 'mssql':
      throw new DatabaseError('failed', 'SQL Server cannot be opened yet');
  }
}

export interface Setup {
  readonly database: Database;
  /** All of the database's tables. */
  readonly catalog: Catalog;
  readonly pack: LoadedPack;
  /** When a file of the pack was last changed. */
  readonly changed: Date;
}

const SOFTWARE_VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Opens the database and loads the pack against its live schema. The caller closes the database. */
export async function setUp(config: Config, announce: Announce): Promise<Setup> {
  const database = await openDatabase(config, announce);
  try {
    const catalog = await database.catalog();
    const pack = loadPack(config.mappings, catalog);
    return { database, catalog, pack, changed: lastChange(config.mappings) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The facade over a pack, as the configuration wants it. */
export function facadeOf(
  registry: Registry,
  database: Database,
  changed: Date,
  { page, linkSecret }: Pick<Config, 'page' | 'linkSecret'>,
): Facade {
  return createFacade({
    registry,
    database,
    pageSize: page.size,
    pageMax: page.max,
    secret: linkSecret,
    softwareVersion: SOFTWARE_VERSION,
    date: changed.toISOString(),
  });
}

function lastChange(folder: string): Date {
  const files = globSync('**/*', { cwd: folder }).map(file => statSync(join(folder, file)).mtimeMs);
  return new Date(Math.max(0, ...files));
}
