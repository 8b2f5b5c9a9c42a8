/**
 * From a Config to what a server or a command works with: the database opened, the pack loaded against its schema.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Content, type LoadedContent, readContent } from './ccda/content.ts';
import type { Config } from './config.ts';
import { demoDatabase } from './demo.ts';
import { createFacade, type Facade } from './facade.ts';
import { readPackFiles } from './mapping/load/files.ts';
import { type LoadedPack, loadPack } from './mapping/load/pack.ts';
import type { Registry } from './mapping/model.ts';
import { zoneOf } from './mapping/zone.ts';
import { FhirError } from './outcome.ts';
import { conceptMapsOf } from './own/concept-maps.ts';
import { EXPORT_OPERATIONS } from './own/operations.ts';
import { RECORD_OPERATIONS } from './own/record-operations.ts';
import { makeOffers } from './plan/offers.ts';
import { cursorCodec } from './search/cursor.ts';
import type { ParseContext } from './search/limits.ts';
import { parseSearch } from './search/parse.ts';
import type { Catalog } from './sql/catalog.ts';
import type { Database } from './sql/database.ts';
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
    case 'mssql': {
      // The driver is large, and the demo does without it.
      const { openMssql } = await import('./sql/mssql/database.ts');
      return openMssql(database.address, { warn: announce });
    }
  }
}

export interface Setup {
  readonly database: Database;
  /** All of the database's tables. */
  readonly catalog: Catalog;
  readonly pack: LoadedPack;
  /** What goes into documents; undefined where the pack does not say. */
  readonly content: Content | undefined;
  /** When a file of the pack was last changed. */
  readonly changed: Date;
}

/** Of this server, as package.json says. */
export const SOFTWARE_VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

/** Opens the database and loads the pack against its live schema. The caller closes the database. */
export async function setUp(
  config: Pick<Config, 'database' | 'dataDir' | 'mappings'>,
  announce: Announce,
): Promise<Setup> {
  const database = await openDatabase(config, announce);
  try {
    const catalog = await database.catalog();
    const { content, ...pack } = loadWithContent(config.mappings, catalog);
    return { database, catalog, pack, content, changed: lastChange(config.mappings) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The pack and its `ccds.yaml`, whose searches are tried out as searches are parsed. */
function loadWithContent(folder: string, catalog: Catalog): LoadedPack & { readonly content: Content | undefined } {
  const loaded = loadPack(folder, catalog);
  const file = readPackFiles(folder).ccds;
  const { registry } = loaded;
  if (registry === undefined || file === undefined) return { ...loaded, content: undefined };
  const offers = makeOffers(registry);
  const context: ParseContext = {
    offers,
    handling: 'strict',
    zone: zoneOf(registry.pack.zone),
    base: 'http://localhost/fhir',
    caller: '',
    cursors: cursorCodec(new Uint8Array(32)),
    pageSize: 1,
    pageMax: 1,
  };
  const { content, problems }: LoadedContent = readContent(file, registry.pack, ({ type, parameters }) => {
    try {
      parseSearch(type, parameters, context);
      return undefined;
    } catch (error) {
      if (error instanceof FhirError) return error.message;
      throw error;
    }
  });
  const all = [...loaded.problems, ...problems];
  return content === undefined ? { registry: undefined, problems: all, content } : { registry, problems: all, content };
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
    own: conceptMapsOf(registry),
    operations: EXPORT_OPERATIONS,
    recordOperations: RECORD_OPERATIONS,
  });
}

function lastChange(folder: string): Date {
  const files = globSync('**/*', { cwd: folder }).map(file => statSync(join(folder, file)).mtimeMs);
  return new Date(Math.max(0, ...files));
}
