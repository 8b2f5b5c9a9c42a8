/** Opens the database of a server or a command, and checks the pack against its schema. In: a Config. */

import { join, resolve } from 'node:path';
import { readAccess, type Searchable } from '../access/read-access.ts';
import { NO_RULES, type PackAccess, SECURITY } from '../auth/rules.ts';
import { type Content, type LoadedContent, readContent } from '../ccda/content.ts';
import { whyNotWritable } from '../common/make-folder.ts';
import { Memo } from '../common/memo.ts';
import { plural } from '../common/plural.ts';
import { codeOf } from '../common/reason.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { createFacade, type Facade } from '../facade.ts';
import { type LoadedPack, type LoadOptions, loadPackFiles } from '../mapping/load/pack/pack.ts';
import { partNamed } from '../mapping/load/pack/part-named.ts';
import { createReport, type Problem } from '../mapping/load/problem.ts';
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

/** Reports a step that takes a while. */
export type Announce = (what: string) => void;

/** The address of the database, and how much of it is cached in memory. */
export type DatabaseSource = Pick<Config, 'database' | 'dataDir'> & { readonly memory?: Pick<OpenOptions, 'cache'> };

/**
 * Opens the configured database, or the demo's, which is built if it does not exist. Throws DatabaseError, ConfigError.
 */
export async function openDatabase(config: DatabaseSource, announce: Announce): Promise<Database> {
  const { dataDir, memory } = config;
  const address = config.database ?? (await builtDemo(dataDir, announce));
  // The server itself reports a folder that is not writable.
  const kept = whyNotWritable(dataDir) === undefined;
  const proofs = { folder: join(dataDir, 'forms'), announce, software: SOFTWARE_VERSION };
  const options = { ...memory, ...(kept && { proofs }) };
  return engineNamed(address.engine).open(address, options);
}

/** Returns the demo database. Throws ConfigError if it is not built yet and `dataDir` is not writable. */
async function builtDemo(dataDir: string, announce: Announce): Promise<DatabaseAddress> {
  try {
    return sqliteAddress(await demoDatabase(dataDir, announce));
  } catch (error) {
    const reason = whyNotWritable(dataDir) ?? codeOf(error);
    if (reason === undefined) throw error;
    throw new ConfigError([
      `DATA_DIR: the demo database cannot be built in ${dataDir} (${reason}). ` +
        'Name a folder that the user of this process may write, or set DATABASE_URL and MAPPINGS.',
    ]);
  }
}

/** A pack, checked against a catalog as far as both are available. */
interface Checked {
  readonly files: PackFiles;
  /** The tables that the pack names; all tables of the database if the pack has errors. */
  readonly catalog: Catalog;
  readonly pack: LoadedPack;
  /** Content of documents; undefined if the pack does not define it. */
  readonly content: Content | undefined;
  /** Rules about which user sees which patients. */
  readonly access: PackAccess;
  /** Time of the latest change to a file of the pack. */
  readonly changed: Date;
}

/** The same, checked against a database. */
export interface CheckedPack extends Checked {
  /** The schema that the check has used. */
  readonly schema: SeenSchema;
}

export interface Setup extends CheckedPack {
  readonly database: Database;
}

/**
 * Opens the database and loads the pack against its live schema. The caller closes the database. `files`: the pack, if
 * it was read before. Throws DatabaseError; throws ConfigError if the pack has no database.
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

/** With so many mapping files, a check takes seconds. */
const MANY = 200;

/** Throws ConfigError if no database is configured, unless the demo pack is used and the demo is enabled. */
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
    // A pack without a database address is most likely a copy of the demo pack.
    const copy = `for a copy of the demo pack, sqlite:${demoFile(dataDir)}, which npm start builds`;
    throw new ConfigError([`${expected} for the pack ${mappings}; ${copy}`]);
  }
}

export interface CheckOptions extends Pick<LoadOptions, 'degraded'> {
  /** Schema of the previous check of the same pack: it may have tables that are missing now. */
  readonly before?: SeenSchema;
}

/** Checks a pack against the live schema and the permissions of the login. Throws DatabaseError. */
export async function checkAgainst(
  database: Database,
  files: PackFiles,
  options: CheckOptions,
  announce: Announce = () => {},
): Promise<CheckedPack> {
  const memory = new CheckMemory();
  const checked = await checkSchema(database, files, options, memory);
  const { catalog, pack } = checked;
  const { registry } = pack;
  const { tables, columns = [] } = partNamed(files, memory.pack);
  const read = registry === undefined ? [] : [...tablesOf(registry)];
  const part = { tables: [...new Set([...tables, ...read, ...(options.before?.part.tables ?? [])])], columns };
  if (registry === undefined) return { ...checked, schema: seenSchema(part, catalog, [], []) };
  // In the spelling of the database, which may compare names case-sensitively.
  const names = [...namesOf(registry)].map(name => spelled(catalog, name));
  const { unreadable, writes } = await database.permissions(names);
  if (writes.length > 0)
    announce(`The login can write (${writes.join('; ')}). Lintel only reads; so should its login.`);
  const schema = seenSchema(part, catalog, names, unreadable);
  if (unreadable.length === 0) return { ...checked, schema };
  return { ...checkPack(files, withDenied(catalog, unreadable), { ...options, packMemory: memory.pack }), schema };
}

/**
 * Checks a pack against a catalog that was read before, whenever its texts change. The caller must check the
 * permissions of the login. Throws DatabaseError.
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
 * Checks a pack against the tables that it names, because a database may have tens of thousands. Reads all tables only
 * if there are errors, to suggest names for unknown ones.
 */
async function checkSchema(
  database: Database,
  files: PackFiles,
  options: LoadOptions,
  memory: CheckMemory,
): Promise<Checked> {
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
  /** Results of the previous check of searches. */
  readonly searchMemory?: Memo<readonly SearchProblem[]>;
}

/**
 * Loads a pack with its `access.yaml` and its `ccds.yaml`, and checks their searches by parsing them. Without a
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

/** Reports patient data whose owner is unknown as an error, so that it is not served. */
function withCompartments(pack: LoadedPack, registry: Registry): LoadedPack {
  const report = createReport();
  for (const { at, message, ...detail } of compartmentProblems(registry))
    report.error('unknown-owner', at, message, detail);
  const own = report.problems();
  return own.length === 0 ? pack : { registry: undefined, problems: [...pack.problems, ...own] };
}

/**
 * Reads the access rules. If the pack is served without some mappings, rules that search these mappings grant no
 * access, and are only warned of. Other problems remain errors, because without the rules nothing would be hidden.
 */
function withAccess(
  pack: LoadedPack,
  files: PackFiles,
  searches: KnownSearches,
): { readonly pack: LoadedPack; readonly access: PackAccess } {
  const { registry } = pack;
  if (files.access === undefined || registry === undefined) return { pack, access: NO_RULES };
  const { access, problems: found } = readAccess(files.access, searchableIn(registry, searches));
  const follows = ({ kind }: Problem): boolean => pack.unserved !== undefined && kind === 'wrong-search';
  const own = found.map(one => (follows(one) ? { ...one, severity: 'warning' as const } : one));
  const problems = [...pack.problems, ...own];
  // With mappings that are left out, the pack itself has errors.
  const isSound = own.every(({ severity }) => severity !== 'error');
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
  // Documents from only some of the mappings would be incomplete without anybody noticing, so none are made.
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
 * Creates the facade over a pack by the configuration. `documents`: the pack defines documents (default false).
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
    answerBytes: page.bytes,
    secret: linkSecret,
    softwareVersion: SOFTWARE_VERSION,
    date: changed.toISOString(),
    // Registered apps have origins of their own.
    cors: corsOrigins.length > 0 || access === 'smart',
    clock,
    own: [...conceptMapsOf(registry), ...valueSetsOf(registry)],
    operations: [...(exports ? EXPORT_OPERATIONS : []), ...(documents ? [SUMMARY] : [])],
    recordOperations: RECORD_OPERATIONS,
  });
}
