/**
 * Opens what a server or a command works with: the database, and the pack checked against its schema. In: a Config.
 */

import { join, resolve } from 'node:path';
import { readAccess, type Searchable } from '../access/read-access.ts';
import { NO_RULES, type PackAccess, SECURITY } from '../auth/rules.ts';
import { type Content, type LoadedContent, readContent } from '../ccda/content.ts';
import { whyNotWritable } from '../common/make-folder.ts';
import { Memo } from '../common/memo.ts';
import { plural } from '../common/plural.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { createFacade, type Facade } from '../facade.ts';
import { type LoadedPack, type LoadOptions, loadPackFiles } from '../mapping/load/pack/pack.ts';
import { partNamed } from '../mapping/load/pack/part-named.ts';
import { createReport } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import { namesOf, tablesOf } from '../mapping/load/rows/tables-used.ts';
import type { Registry } from '../mapping/model.ts';
import { conceptMapsOf, valueSetsOf } from '../operations/code-map-resources.ts';
import { EXPORT_OPERATIONS } from '../operations/operations.ts';
import { RECORD_OPERATIONS } from '../operations/record-operations.ts';
import { SUMMARY } from '../operations/summary-operation.ts';
import { compartmentCodes } from '../plan/compartment.ts';
import { compartmentProblems } from '../plan/compartment-problems.ts';
import type { SearchProblem } from '../plan/search-problems.ts';
import { isResourceType } from '../r4/definitions.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { numberProblems } from '../rest/numbers.ts';
import { type Catalog, spelled, withDenied } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import type { DatabaseAddress, OpenOptions } from '../sql/engine.ts';
import { engineNamed } from '../sql/engines.ts';
import { sqliteAddress } from '../sql/sqlite/engine.ts';
import { CheckMemory } from './check-memory.ts';
import { DEMO_PACK, demoDatabase, demoFile } from './demo.ts';
import { type KnownSearches, knownSearches } from './known-searches.ts';
import { type SeenSchema, seenSchema } from './seen-schema.ts';
import { SOFTWARE_VERSION } from './version.ts';

/** Says what takes a while. */
export type Announce = (what: string) => void;

/** Where the database is; how much of it is kept in memory. */
export type DatabaseSource = Pick<Config, 'database' | 'dataDir'> & { readonly memory?: Pick<OpenOptions, 'cache'> };

/** The configured database, or the demo's, which is built where there is none. Throws DatabaseError, ConfigError. */
export async function openDatabase(config: DatabaseSource, announce: Announce): Promise<Database> {
  const { dataDir, memory } = config;
  const address = config.database ?? (await builtDemo(dataDir, announce));
  // A server says by itself that its folder cannot be written.
  const kept = whyNotWritable(dataDir) === undefined;
  const proofs = { folder: join(dataDir, 'forms'), announce, software: SOFTWARE_VERSION };
  const options = { ...memory, ...(kept && { proofs }) };
  return engineNamed(address.engine).open(address, options);
}

/** The demo database. Throws ConfigError where it is not built yet and `dataDir` takes no files. */
async function builtDemo(dataDir: string, announce: Announce): Promise<DatabaseAddress> {
  try {
    return sqliteAddress(await demoDatabase(dataDir, announce));
  } catch (error) {
    const reason = whyNotWritable(dataDir) ?? (error instanceof Error && 'code' in error ? error.code : undefined);
    if (reason === undefined) throw error;
    throw new ConfigError([
      `DATA_DIR: the demo database cannot be built in ${dataDir} (${reason}). ` +
        'Name a folder that the user of this process may write, or set DATABASE_URL and MAPPINGS.',
    ]);
  }
}

/** A pack, checked against a catalog as far as both are known. */
interface Checked {
  readonly files: PackFiles;
  /** The tables that the pack names; all of the database's where something is wrong with it. */
  readonly catalog: Catalog;
  readonly pack: LoadedPack;
  /** What goes into documents; undefined where the pack does not say. */
  readonly content: Content | undefined;
  /** Which user sees which patients. */
  readonly access: PackAccess;
  /** When a file of the pack was last changed. */
  readonly changed: Date;
}

/** Likewise, against a database. */
export interface CheckedPack extends Checked {
  /** What was there of what the pack names. */
  readonly schema: SeenSchema;
}

export interface Setup extends CheckedPack {
  readonly database: Database;
}

/**
 * Opens the database and loads the pack against its live schema. The caller closes the database. `files`: the pack,
 * where it was read before. Throws DatabaseError, and ConfigError where a pack has no database to go with.
 */
export async function setUp(
  config: DatabaseSource & Pick<Config, 'mappings'> & Partial<Pick<Config, 'degraded' | 'demoDatabase' | 'schema'>>,
  announce: Announce,
  files: PackFiles = readPackFiles(config.mappings, config.schema),
): Promise<Setup> {
  refuseWithoutDatabase(config);
  const database = await openDatabase(config, announce);
  if (files.mappings.length >= MANY) announce(`Checking ${plural(files.mappings.length, 'file')} of mappings …`);
  try {
    return { database, ...(await checkAgainst(database, files, config, announce)) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Files of mappings whose check takes seconds. */
const MANY = 200;

/** The demo database goes with the demo pack, and only where the demo is wanted. */
function refuseWithoutDatabase({
  database,
  mappings,
  dataDir,
  demoDatabase: wanted = true,
}: Pick<Config, 'database' | 'mappings' | 'dataDir'> & Partial<Pick<Config, 'demoDatabase'>>): void {
  if (database !== undefined) return;
  const expected = 'DATABASE_URL (or --database): expected the address of a database';
  if (!wanted) throw new ConfigError([`${expected}, since DEMO is false`]);
  if (resolve(mappings) !== resolve(DEMO_PACK)) {
    // A copy of the demo pack is the likeliest pack without an address.
    const copy = `for a copy of the demo pack, sqlite:${demoFile(dataDir)}, which npm start builds`;
    throw new ConfigError([`${expected} for the pack ${mappings}; ${copy}`]);
  }
}

export interface CheckOptions extends Pick<LoadOptions, 'degraded'> {
  /** What was seen for the same pack before: it may have tables that are missing now. */
  readonly before?: SeenSchema;
}

/** Checks a pack against the live schema and what the login may do there. Throws DatabaseError. */
export async function checkAgainst(
  database: Database,
  files: PackFiles,
  options: CheckOptions,
  announce: Announce = () => {},
): Promise<CheckedPack> {
  const checked = await checkSchema(database, files, options);
  const { catalog, pack } = checked;
  const { registry } = pack;
  const { tables, columns = [] } = partNamed(files);
  const read = registry === undefined ? [] : [...tablesOf(registry)];
  const part = { tables: [...new Set([...tables, ...read, ...(options.before?.part.tables ?? [])])], columns };
  if (registry === undefined) return { ...checked, schema: seenSchema(part, catalog, [], []) };
  // As the database spells them: its names may be compared with case.
  const names = [...namesOf(registry)].map(name => spelled(catalog, name));
  const { unreadable, writes } = await database.permissions(names);
  if (writes.length > 0)
    announce(`The login can write (${writes.join('; ')}). Lintel only reads; so should its login.`);
  const schema = seenSchema(part, catalog, names, unreadable);
  if (unreadable.length === 0) return { ...checked, schema };
  return { ...checkPack(files, withDenied(catalog, unreadable), options), schema };
}

/**
 * Checks a pack against a catalog that was read before, as often as its texts change; what the login may do is the
 * caller's to know. Throws DatabaseError.
 */
export async function checkKnown(
  database: Database,
  catalog: Catalog,
  files: PackFiles,
  memory: CheckMemory,
): Promise<Pick<CheckedPack, 'pack' | 'catalog' | 'content'>> {
  const found = await memory.withForms(database, catalog, files, partNamed(files, memory.pack));
  return checkPack(files, found, { packMemory: memory.pack, searchMemory: memory.searches });
}

/**
 * A database may have tens of thousands of tables, of which a pack names some: all of them are only looked at to say
 * what may be meant by a name that is not there.
 */
async function checkSchema(database: Database, files: PackFiles, options: LoadOptions): Promise<Checked> {
  const memory = new CheckMemory();
  const check = async (catalog: Catalog): Promise<Checked> =>
    checkPack(files, await memory.withForms(database, catalog, files, part), { ...options, packMemory: memory.pack });
  const part = partNamed(files, memory.pack);
  const checked = await check(await database.catalog(part));
  const isSound = checked.pack.problems.every(({ severity }) => severity !== 'error');
  return isSound ? checked : check(await database.catalog());
}

function checkPack(files: PackFiles, catalog: Catalog, options: WholeOptions): Checked {
  return { files, catalog, changed: new Date(files.changed), ...loadWhole(files, catalog, options) };
}

export interface WholeOptions extends LoadOptions {
  /** What the check before has left of searches. */
  readonly searchMemory?: Memo<readonly SearchProblem[]>;
}

/**
 * Loads a pack, its `access.yaml` and its `ccds.yaml`, whose searches are tried out as searches are parsed. Without a
 * catalog: against its lock.
 */
export function loadWhole(
  files: PackFiles,
  catalog: Catalog | undefined,
  options: WholeOptions = {},
): Pick<Checked, 'pack' | 'content' | 'access'> {
  const loaded = loadPackFiles(files, catalog, options);
  if (loaded.registry === undefined) return { pack: loaded, content: undefined, access: NO_RULES };
  const { searchMemory = new Memo() } = options;
  const searches = knownSearches(loaded.registry, searchMemory);
  const { pack, access } = withAccess(withCompartments(loaded, loaded.registry), files, searches);
  const whole = { ...withContent(pack, files, searches), access };
  searchMemory.turn();
  return whole;
}

/** Patients’ data of which nobody knows whose it is are not served. */
function withCompartments(pack: LoadedPack, registry: Registry): LoadedPack {
  const report = createReport();
  for (const { at, message, ...detail } of compartmentProblems(registry))
    report.error('unknown-owner', at, message, detail);
  const own = report.problems();
  return own.length === 0 ? pack : { registry: undefined, problems: [...pack.problems, ...own] };
}

/** Rules of a pack that lacks mappings may search what is not there: they let nobody in, and the pack is served. */
function withAccess(
  pack: LoadedPack,
  files: PackFiles,
  searches: KnownSearches,
): { readonly pack: LoadedPack; readonly access: PackAccess } {
  const { registry } = pack;
  if (files.access === undefined || registry === undefined) return { pack, access: NO_RULES };
  const { access, problems: found } = readAccess(files.access, searchableIn(registry, searches));
  const problems = [
    ...pack.problems,
    ...found.map(one => (pack.unserved ? { ...one, severity: 'warning' as const } : one)),
  ];
  const isSound = problems.every(({ severity }) => severity !== 'error');
  return { pack: isSound ? { ...pack, problems } : { registry: undefined, problems }, access };
}

function searchableIn(registry: Registry, searches: KnownSearches): Searchable {
  const { offers } = searches.context;
  return {
    isType: isResourceType,
    served: registry.types,
    isOfPatients: type => type === COMPARTMENT_TYPE || compartmentCodes(type).length > 0,
    systems: registry.pack.systems,
    hasLabel: label => registry.types.some(type => searches.filter(type, [SECURITY, label], false).length === 0),
    offers: (type, code) => offers.find(type, code) !== undefined,
    codes: type => offers.of(type).map(({ parameter }) => parameter.code),
    problems: (type, parameter, any) => searches.filter(type, parameter, any),
  };
}

function withContent(pack: LoadedPack, files: PackFiles, searches: KnownSearches): Pick<Checked, 'pack' | 'content'> {
  const { registry } = pack;
  if (registry === undefined || files.ccds === undefined) return { pack, content: undefined };
  const { content, problems }: LoadedContent = readContent(files.ccds, registry.pack, searches.search);
  const all = [...pack.problems, ...problems, ...numberProblems(registry, files.ccds.path)];
  // Documents of a part of the mappings would say less than the record has, and nobody would see it.
  if (pack.unserved) return { pack: { ...pack, problems: all }, content: undefined };
  return { pack: { registry: content && registry, problems: all }, content };
}

type FacadeSettings = Pick<Config, 'page' | 'linkSecret'> &
  Partial<Pick<Config, 'corsOrigins' | 'access'>> & {
    readonly documents?: boolean;
    readonly exports?: boolean;
    readonly clock?: () => number;
  };

/**
 * The facade over a pack, as the configuration wants it. `documents`: the pack says what they hold (default false).
 * `exports`: there is a folder for their files (default true). `clock`: milliseconds since the epoch.
 */
export function facadeOf(
  registry: Registry,
  database: Database,
  changed: Date,
  {
    page,
    linkSecret,
    corsOrigins = [],
    access = 'open',
    documents = false,
    exports = true,
    clock = Date.now,
  }: FacadeSettings,
): Facade {
  return createFacade({
    registry,
    database,
    pageSize: page.size,
    pageMax: page.max,
    secret: linkSecret,
    softwareVersion: SOFTWARE_VERSION,
    date: changed.toISOString(),
    // Registered apps come from origins of their own.
    cors: corsOrigins.length > 0 || access === 'smart',
    clock,
    own: [...conceptMapsOf(registry), ...valueSetsOf(registry)],
    operations: [...(exports ? EXPORT_OPERATIONS : []), ...(documents ? [SUMMARY] : [])],
    recordOperations: RECORD_OPERATIONS,
  });
}
