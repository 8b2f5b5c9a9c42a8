/**
 * Loads a pack. In: its folder, and the catalog of the database or else the pack's schema.lock.json. Out: a Registry,
 * or every problem at once. The stages: files, YAML, macros, shape, rows and ids, elements, and checks over all
 * mappings.
 */
import { type Catalog, findTable, tableText } from '../../../sql/catalog.ts';
import { engineNamed } from '../../../sql/engines.ts';
import { checkDrift, columnsOfOtherTypes } from '../../check/drift.ts';
import { createRegistry, type Registry } from '../../model.ts';
import { type LoadedCodeMap, readCodeMaps } from '../codes/codes.ts';
import { readHierarchies } from '../codes/hierarchies.ts';
import { systemsOf } from '../codes/system.ts';
import { type Levels, latestCodes, latestTables, packDocument } from '../macros/extend.ts';
import { expandMappings } from '../macros/macros.ts';
import { createReport, type Problem, placeText, type Report } from '../problem.ts';
import { type PackFile, type PackFiles, readPackFiles } from '../read/files.ts';
import { checkVersions } from '../read/other-schemas.ts';
import { readYaml } from '../read/read.ts';
import { child, entriesOf, scalarsOf, type Tree } from '../read/tree.ts';
import { checkAbsentColumns, DateColumns } from '../rows/absent-values.ts';
import type { NamedRows } from '../rows/columns.ts';
import { readWordIndexes } from '../rows/word-indexes.ts';
import type { PackContext } from './context.ts';
import { placesIn, readLock } from './lock.ts';
import { PackMemory } from './memory.ts';
import { contextOf, resolveDrafts } from './resolve.ts';
import { checkColumnRules, type MappingSettings, readSettings, type Settings, UNSEEN } from './settings.ts';
import { noUses } from './unit.ts';

/** Without errors there is a registry, maybe with warnings. With `degraded` it contains only the mappings that work. */
export type LoadedPack =
  | {
      readonly registry: Registry;
      readonly problems: readonly Problem[];
      /** Mappings that are left out; the problems give the reasons. */
      readonly unserved?: readonly string[];
    }
  | { readonly registry: undefined; readonly problems: readonly Problem[] };

/** Loads and checks a pack. Throws only if its folder cannot be read. */
export function loadPack(folder: string, catalog: Catalog | undefined): LoadedPack {
  return loadPackFiles(readPackFiles(folder), catalog);
}

export interface LoadOptions {
  /** Leaves out the mappings that do not work on the current schema, and those that refer to them. */
  readonly degraded?: boolean;
  /** The memory of the last check, which this check updates. */
  readonly packMemory?: PackMemory;
}

/**
 * Reads pack.yaml, even if mappings have errors. Returns the problems if it cannot be read: without the rules of `deny`
 * nothing may be shown.
 */
export function settingsOf(files: PackFiles): Settings | readonly Problem[] {
  const report = createReport();
  report.take(files.problems ?? []);
  const packs = [...(files.bases ?? []), ...(files.pack ? [files.pack] : [])];
  const documents = packs.flatMap(({ path, text }) => readYaml(path, text, report));
  const unread = report.problems();
  return unread.length > 0 ? unread : readSettings(packDocument(documents), 'pack.yaml', createReport());
}

/**
 * Reads the code maps as written, even if mappings have errors. The uppermost of several packs counts. Undefined if
 * pack.yaml or a file of code maps cannot be read.
 */
export function codeMapsOf(files: PackFiles): ReadonlyMap<string, LoadedCodeMap> | undefined {
  const settings = settingsOf(files);
  if (!('deny' in settings)) return undefined;
  const report = createReport();
  const documents = files.codes.flatMap(({ path, text }) => readYaml(path, text, report));
  if (report.problems().length > 0) return undefined;
  const levelOf = new Map([...files.codes, ...files.tables].map(of => [of.path, of.level]));
  const { files: trees } = readHierarchies(files.tables, settings, report);
  const tables = files.tables.filter(file => !trees.has(file));
  const codes = latestCodes(documents, tables, file => levelOf.get(file) ?? 0);
  return readCodeMaps(
    codes,
    latestTables(tables, codes, file => levelOf.get(file) ?? 0),
    systemsOf(settings.pack.systems),
    report,
  );
}

/** Loads and checks a pack from files that were read before. */
export function loadPackFiles(
  files: PackFiles,
  catalog: Catalog | undefined,
  { degraded = false, packMemory: memory = new PackMemory() }: LoadOptions = {},
): LoadedPack {
  const loaded = loadWith(files, catalog, degraded, memory);
  memory.turn();
  return loaded;
}

function loadWith(files: PackFiles, catalog: Catalog | undefined, degraded: boolean, memory: PackMemory): LoadedPack {
  const report = createReport();
  report.take(files.problems ?? []);
  // Without the pack that it extends, everything would seem wrong.
  if (files.problems !== undefined) return { registry: undefined, problems: report.problems() };
  const runStage = (what: string, inputs: readonly unknown[], work: (report: Report) => void): void =>
    memory.cached(memory.reports, what, inputs, report, own => {
      work(own);
      return undefined;
    });
  const { lock } = files;
  const inLock =
    lock &&
    memory.cached(memory.lock, lock.path, [lock.text], catalog ? createReport() : report, own =>
      readLock(lock.path, lock.text, own),
    );
  const ofOtherEngine = catalog && inLock ? typedByOtherEngine(inLock, catalog) : 0;
  const locked = ofOtherEngine > 0 ? undefined : catalog && inLock;
  if (catalog && inLock && lock) {
    runStage('drift', [lock.text, inLock, catalog, degraded], own => {
      if (ofOtherEngine > 0) reportOtherEngine(inLock, ofOtherEngine, own);
      else if (degraded || !isOther(inLock, catalog)) reportDrift(lock, inLock, catalog, own);
    });
  }
  const known = catalog ?? inLock;
  const packs = [...(files.bases ?? []), ...(files.pack ? [files.pack] : [])];
  for (const file of [...packs, ...files.codes, ...files.tables, ...files.mappings]) {
    runStage(`encoding ${file.path}`, [file.text], own => reportOtherEncoding(file, own));
  }
  const yaml = (list: readonly PackFile[]): readonly Tree[] => list.flatMap(file => memory.readYaml(file, report));
  const documents = {
    pack: yaml(packs),
    codes: yaml(files.codes),
    mappings: yaml(files.mappings),
  };
  const unread = new Set(report.problems().map(problem => problem.position.file));
  const shared = [...packs, ...files.codes];
  // Without the names that all files share, everything in them would seem wrong.
  if (shared.some(({ path }) => unread.has(path))) return { registry: undefined, problems: report.problems() };
  const levelOf = new Map(
    [...packs, ...files.codes, ...files.tables, ...files.mappings].map(of => [of.path, of.level]),
  );
  const levels: Levels = file => levelOf.get(file) ?? 0;
  const main = packDocument(documents.pack);
  const whole = memory.cached(memory.settings, 'pack.yaml', [files.schema, ...documents.pack], report, own => ({
    ...readSettings(main, 'pack.yaml', own),
    ...(files.schema === undefined ? {} : { schema: files.schema }),
  }));
  const settings = settingsForMappings(whole, main, files.schema, memory);
  const systems = systemsOf(whole.pack.systems);
  const { hierarchies, files: trees } = readHierarchies(files.tables, whole, report, memory);
  const tables = files.tables.filter(file => !trees.has(file));
  const codes = latestCodes(documents.codes, tables, levels);
  const codeMaps = readCodeMaps(codes, latestTables(tables, codes, levels), systems, report, memory);
  const fragments = { named: whole.fragments, used: new Set<string>() };
  const at = child(main, 'schema')?.at ?? main?.at ?? { file: 'pack.yaml', line: 1, column: 1 };
  checkVersions(documents.mappings, { schema: settings.schema, at, known: scalarsOf(child(main, 'schemas')) }, report);
  const drafts = expandMappings(documents.mappings, { schema: settings.schema, levels, memory }, fragments, report);
  if (!known) {
    const position = { file: 'schema.lock.json', line: 1, column: 1 };
    report.error('unknown-schema', position, 'no database and no lock of its schema: the columns are unknown');
    return { registry: undefined, problems: report.problems() };
  }
  const uses = noUses();
  const pack: PackContext = {
    ...uses,
    ...{ report, settings, systems, locked, codeMaps },
    catalog: known,
    brokenCodeMaps: new Set(documents.codes.flatMap(entriesOf).flatMap(({ key }) => (codeMaps.has(key) ? [] : [key]))),
    dates: new DateColumns(),
    dateCodecs: memory.codecsOf(settings),
  };
  const hidden = files.mappings.filter(({ path }) => unread.has(path)).flatMap(namesIn);
  if (catalog) {
    const before = degraded ? locked : undefined;
    // Levels depend on the paths of files only, which the positions in the settings contain.
    runStage('column rules', [settings, catalog, before], own =>
      checkColumnRules(settings, catalog, before, levels, own),
    );
  }
  runStage('absent columns', [settings, known], own => checkAbsentColumns(settings, known, own));
  // If an index is gone, searches work without it.
  const words = readWordIndexes(
    whole.words,
    contextOf({ ...pack, report: degraded ? { ...report, error: report.warning } : report }),
  );
  const resolved = resolveDrafts(drafts, hidden, pack, { degraded, memory });
  if (catalog && !degraded) reportOtherDatabase(pack);
  const isSound = report.problems().every(problem => problem.severity !== 'error');
  report.take(resolved.problems);
  if (!isSound || resolved.mappings === undefined) return { registry: undefined, problems: report.problems() };
  // What a broken mapping would have used is unknown.
  reportUnused(whole, pack, codeMaps, fragments.used, levels);
  const problems = report.problems();
  const used = [...codeMaps.values()].flatMap(one =>
    one.kind === 'rows' && pack.usedCodeMaps.has(one.name) ? [one.map] : [],
  );
  const registry = createRegistry({ ...whole.pack, hierarchies, words }, resolved.mappings, files.version, used);
  return { registry, problems, ...(resolved.unserved.length > 0 ? { unserved: resolved.unserved } : {}) };
}

/** Returns the settings of the last check, unless something that mappings see differs. */
function settingsForMappings(
  settings: Settings,
  main: Tree | undefined,
  schema: string | undefined,
  memory: PackMemory,
): MappingSettings {
  const others = entriesOf(main).filter(({ key }) => !UNSEEN.has(key));
  return memory.mappingSettings.get('pack.yaml', [schema, main?.kind, ...others], () => {
    const { pack, fragments, words, hierarchies, ...seen } = settings;
    return { ...seen, zone: pack.zone };
  });
}

/**
 * Compares the lock with the database and only warns: a missing part that a mapping needs is an error at its own line,
 * and `lintel lock` must be able to write a new lock.
 */
function reportDrift({ path, text }: PackFile, locked: Catalog, catalog: Catalog, report: Report): void {
  checkDrift(locked, catalog, { ...report, error: report.warning }, placesIn(path, text));
}

/**
 * Counts the columns that have another type in this engine than in the lock's; 0 if they are few. Those are reported
 * one by one, because they may have changed.
 */
function typedByOtherEngine(locked: Catalog, catalog: Catalog): number {
  if (locked.engine === catalog.engine) return 0;
  const others = columnsOfOtherTypes(locked, catalog);
  return others < MANY ? 0 : others;
}

function reportOtherEngine({ engine }: Catalog, columns: number, report: Report): void {
  const at = { file: 'schema.lock.json', line: 1, column: 1 };
  const title = engineNamed(engine).title;
  report.error(
    'schema-changed',
    at,
    `the lock is of ${title}, and ${columns} columns have other types in this database`,
    {
      expected: '`lintel lock` after a review of the mappings',
    },
  );
}

/** True if the database lacks most tables of the lock. `reportOtherDatabase` reports that once. */
function isOther(locked: Catalog, catalog: Catalog): boolean {
  const names = [...locked.tables.keys()];
  const missing = names.filter(name => findTable(catalog, name) === undefined);
  return missing.length >= MANY && missing.length > names.length / 2;
}

/** Fewer missing tables or columns of another type are reported one by one, because each may be a slip. */
const MANY = 5;

/** Reports a database that lacks most tables of the pack as one problem, because it belongs to another product. */
function reportOtherDatabase({ catalog, tablesThere, tablesMissing, report }: PackContext): void {
  const missing = tablesMissing.size;
  if (missing < MANY || missing <= tablesThere.size) return;
  const tables = [...catalog.tables.values()].map(tableText);
  const all = missing + tablesThere.size;
  const message = `the database lacks ${missing} of the ${all} tables of this pack: does DATABASE_URL name another one?`;
  report.error('unknown-schema', { file: 'pack.yaml', line: 1, column: 1 }, message, {
    expected: someOf([...tablesMissing.keys()]),
    found: tables.length === 0 ? 'no table' : someOf(tables),
    covers: [...tablesMissing.values()].flat(),
  });
}

function someOf(names: readonly string[]): string {
  const more = names.length - 3;
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Reports a file that is not UTF-8: invalid bytes have been read as U+FFFD, which nobody writes. */
function reportOtherEncoding({ path, text }: PackFile, report: Report): void {
  const at = text.indexOf('\uFFFD');
  if (at < 0) return;
  const before = text.slice(0, at).split('\n');
  const position = { file: path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  report.error('unreadable-file', position, 'not UTF-8', { expected: 'the file to be saved as UTF-8' });
}

/** Returns the names of the mappings in a file with a syntax error. */
function namesIn({ text }: PackFile): readonly string[] {
  return [...text.matchAll(/^mapping:\s*([^\s#]+)/gm)].map(([, name = '']) => name);
}

/** Warns of unused parts of the served pack. Parts of the packs below may stay unused. */
function reportUnused(
  settings: Settings,
  pack: PackContext,
  codeMaps: ReadonlyMap<string, LoadedCodeMap>,
  fragments: ReadonlySet<string>,
  levels: Levels,
): void {
  const report: Pick<Report, 'warning'> = {
    warning(kind, at, ...rest) {
      if (levels(at.file) === 0) pack.report.warning(kind, at, ...rest);
    },
  };
  for (const { key, at } of settings.fragments.values()) {
    if (!fragments.has(key)) report.warning('unused', at, `fragment ${key} is never inserted`);
  }
  for (const { key, at } of settings.lists.values()) {
    if (!pack.usedLists.has(key)) report.warning('unused', at, `list ${key} is never used`);
  }
  for (const { name, at } of codeMaps.values()) {
    if (!pack.usedCodeMaps.has(name)) report.warning('unused', at, `code map ${name} is never used`);
  }
  const isUsed = ({ rows }: { readonly rows: NamedRows }): boolean => pack.usedRows.has(rows);
  for (const written of Map.groupBy(pack.lookups, ({ at }) => placeText(at)).values()) {
    const [first] = written;
    if (first && !written.some(isUsed)) report.warning('unused', first.at, `lookup ${first.rows.name} is never used`);
  }
}
