/**
 * Runs the tests of a pack, `*.test.yaml`: rows in, expected resource out, searches that must and must not find it.
 * In: the pack's folder, its registry and catalog. Out: problems at the lines of failed expectations.
 * docs/mapping-language.md
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OPEN_ACCESS } from '../auth/access.ts';
import { memoized } from '../common/caches.ts';
import { createFacade, type Facade } from '../facade.ts';
import { createReport, type Problem, type Report } from '../mapping/load/problem.ts';
import { bytesOfPack, type PackFiles, pathsOfPack } from '../mapping/load/read/files.ts';
import { packFolders } from '../mapping/load/read/folders.ts';
import { readYaml } from '../mapping/load/read/read.ts';
import { testSchema } from '../mapping/load/read/schema.ts';
import { checkShape } from '../mapping/load/read/shape.ts';
import { child, type Entry, entriesOf, itemsOf, scalarsOf, type Tree, textOf } from '../mapping/load/read/tree.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { type Catalog, type ColumnInfo, findColumn, findTable, type TableInfo } from '../sql/catalog.ts';
import { type Database, DatabaseError } from '../sql/database.ts';
import { openSqlite } from '../sql/sqlite/database.ts';
import { CheckMemory } from '../start/check-memory.ts';
import { loadWhole } from '../start/setup.ts';
import type { TestCase } from './pipelines.ts';

/** Base URL of references in resources that tests compare. */
export const TEST_BASE = 'http://localhost/fhir';
const CONTEXT = { access: OPEN_ACCESS, base: TEST_BASE, handling: 'strict' } as const;

export interface PackTests {
  readonly ran: number;
  readonly problems: readonly Problem[];
  readonly cases: readonly TestCase[];
}

interface TestOptions {
  readonly unsaved?: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
  readonly onTest?: (at: { readonly number: number; readonly all: number }) => void;
}

/**
 * Runs all tests of a pack, each on a database of its own that has the catalog's tables and the test's rows. `unsaved`:
 * texts by path that replace those of the folder. `signal`: once aborted, no further test begins. `onTest` is called
 * before each test with its number and the total.
 */
export async function runPackTests(
  folder: string,
  registry: Registry,
  catalog: Catalog,
  { unsaved, signal, onTest }: TestOptions = {},
): Promise<PackTests> {
  const report = createReport();
  const files = testFilesIn(folder, unsaved?.keys());
  // `check` reports a file that was removed meanwhile.
  const textOfFile = (file: string): string => unsaved?.get(file) ?? bytesOfPack(folder, file)?.toString('utf8') ?? '';
  const tests = files.flatMap(file => readYaml(file, textOfFile(file), report));
  const unread = report.problems();
  const cases: TestCase[] = [];
  for (const [i, test] of tests.entries()) {
    signal?.throwIfAborted();
    onTest?.({ number: i + 1, all: tests.length });
    const own = createReport();
    await runTest(test, registry, catalog, own);
    cases.push({ name: textOf(child(test, 'mapping')) ?? 'a test', at: test.at, problems: own.problems() });
    report.take(own.problems());
  }
  // A file that is no YAML contains no test, so it counts as one failed test.
  for (const problem of unread) cases.push({ name: problem.position.file, at: problem.position, problems: [problem] });
  return { ran: tests.length, problems: report.problems(), cases };
}

/**
 * Returns the paths of the test files. Excludes those of a pack below, which test its own mappings. `unsaved`: paths of
 * texts that may not be on disk yet.
 */
export function testFilesIn(folder: string, unsaved: Iterable<string> = []): readonly string[] {
  const below = packFolders(folder).folders.flatMap(({ prefix }) => (prefix === '' ? [] : [prefix]));
  const found = new Set([...pathsOfPack(folder), ...unsaved].filter(file => /\.test\.ya?ml$/.test(file)));
  return [...found].sort().filter(file => !below.some(prefix => file.startsWith(prefix)));
}

/**
 * Loads the pack for the rows of tests: in SQLite they may be in any form, not only in that of the database. `memory`:
 * results of earlier checks, reused.
 */
export function forTests(
  files: PackFiles,
  catalog: Catalog,
  { pack, searches }: CheckMemory = new CheckMemory(),
): Registry | undefined {
  if (catalog.engine !== 'sqlite') return undefined;
  return loadWhole(files, anyForms(catalog), { packMemory: pack, searchMemory: searches }).pack.registry;
}

/** Type of a column that may hold offsets, as in SQLite. */
const ANY_MOMENT = { kind: 'datetime', name: 'datetime2', fraction: 7 } as const;

/** Returns the same object for the same catalog. */
const anyForms = memoized((catalog: Catalog): Catalog => {
  const isTime = ({ type }: ColumnInfo): boolean => ['date', 'datetime', 'time'].includes(type?.kind ?? '');
  const inAnyForm = (info: ColumnInfo): ColumnInfo => {
    if (info.type?.kind === 'instant') return { ...info, type: ANY_MOMENT, form: 'any' };
    return isTime(info) ? { ...info, form: 'any' } : info;
  };
  const tables = [...catalog.tables].map(([key, table]): [string, TableInfo] => [
    key,
    { ...table, columns: new Map([...table.columns].map(([name, info]) => [name, inAnyForm(info)])) },
  ]);
  return { ...catalog, tables: new Map(tables) };
});

/** Runs one test, on a database of its own. */
async function runTest(test: Tree, registry: Registry, catalog: Catalog, report: Report): Promise<void> {
  await overTest(test, registry, catalog, report, ({ mapping, facade }) =>
    compare(test, mapping.resource, facade, report),
  );
}

/** The objects that serve the rows of a test. */
export interface RowsServed {
  readonly mapping: Mapping;
  readonly registry: Registry;
  readonly database: Database;
  readonly facade: Facade;
}

/** Runs the tests of one text. */
export async function testsOf(
  file: string,
  text: string,
  registry: Registry,
  catalog: Catalog,
): Promise<readonly Problem[]> {
  const report = createReport();
  for (const test of readYaml(file, text, report)) await runTest(test, registry, catalog, report);
  return report.problems();
}

/** Calls `work` with the rows of the first test of a text. Undefined if there are none; `report` gives the reason. */
export async function overRows<T>(
  { file, text }: { readonly file: string; readonly text: string },
  registry: Registry,
  catalog: Catalog,
  report: Report,
  work: (served: RowsServed) => Promise<T>,
): Promise<T | undefined> {
  const [test] = readYaml(file, text, report);
  return test && (await overTest(test, registry, catalog, report, work));
}

/** Does so for one test, in a database that is removed afterwards. */
async function overTest<T>(
  test: Tree,
  registry: Registry,
  catalog: Catalog,
  report: Report,
  work: (served: RowsServed) => Promise<T>,
): Promise<T | undefined> {
  if (!checkShape(test, testSchema, report)) return undefined;
  const name = textOf(child(test, 'mapping')) ?? '';
  const tested = registry.mappings.filter(one => one.name === name || one.group === name);
  const [first] = tested;
  if (!first) {
    const among = registry.mappings.map(one => one.name);
    report.error('failed-test', child(test, 'mapping')?.at ?? test.at, 'a test of no mapping', { found: name, among });
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'lintel-test-'));
  try {
    const file = join(folder, 'rows.sqlite');
    writeRows(file, child(test, 'rows'), catalog, report);
    const database = openSqlite(file);
    try {
      const own = only(registry, first.resource, tested);
      const facade = createFacade({
        registry: own,
        database,
        pageSize: 100,
        pageMax: 100,
        secret: new Uint8Array(32),
        softwareVersion: '0',
        date: '1970-01-01',
      });
      return await work({ mapping: first, registry: own, database, facade });
    } finally {
      await database.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the pack, with only the tested mappings for this type. */
function only(registry: Registry, type: string, tested: readonly Mapping[]): Registry {
  return { ...registry, ofType: asked => (asked === type ? tested : registry.ofType(asked)) };
}

function writeRows(file: string, rows: Tree | undefined, catalog: Catalog, report: Report): void {
  const database = new DatabaseSync(file);
  try {
    // The file is deleted after the test, so nothing needs to survive a crash.
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
    for (const [key, { name, columns }] of catalog.tables) {
      // SQLite has no schemas: a table of another schema whose name is taken is left out.
      if (key !== name.toLowerCase()) continue;
      // Quoted, because SQLite does not know the length MAX.
      const declared = [...columns.values()].map(
        column => `"${column.name}" "${column.declared}"${column.type?.kind === 'text' ? ' COLLATE RTRIM' : ''}`,
      );
      database.exec(`CREATE TABLE "${name}" (${declared.join(', ')})`);
    }
    for (const { key, value, at } of entriesOf(rows)) {
      const table = findTable(catalog, key.replace(/^.*\./, ''));
      if (!table) {
        const among = [...catalog.tables.values()].map(one => one.name);
        report.error('unknown-column', at, 'unknown table', { found: key, among });
        continue;
      }
      for (const row of itemsOf(value)) {
        const known = entriesOf(row).flatMap(entry => {
          const column = findColumn(table, entry.key);
          const among = [...table.columns.values()].map(one => one.name);
          if (!column) report.error('unknown-column', entry.at, 'unknown column', { found: entry.key, among });
          const content = column && contentOf(entry, column, report);
          return column && content !== undefined ? [{ column: `"${column.name}"`, content }] : [];
        });
        if (known.length === 0) continue;
        const names = known.map(({ column }) => column).join(', ');
        const places = known.map(() => '?').join(', ');
        try {
          database
            .prepare(`INSERT INTO "${table.name}" (${names}) VALUES (${places})`)
            .run(...known.map(({ content }) => content));
        } catch (error) {
          if (!(error instanceof Error && 'errcode' in error)) throw error;
          report.error('failed-test', row.at, `SQLite does not take this row of ${table.name}: ${error.message}`);
        }
      }
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/**
 * Returns a value as written: `null` without quotes is NULL, bytes are `0x` and hexadecimal digits, everything else is
 * text.
 */
function contentOf(
  { value, at }: Entry,
  { name, type, declared }: ColumnInfo,
  report: Report,
): string | Uint8Array | null | undefined {
  if (value.kind !== 'scalar') return undefined;
  if (value.isNull) return null;
  if (type?.kind !== 'binary') return value.text;
  if (/^0x(?:[0-9a-f]{2})*$/i.test(value.text)) return Buffer.from(value.text.slice(2), 'hex');
  report.error('failed-test', at, `column ${name} (${declared}) holds bytes`, {
    expected: '0x and hexadecimal digits, as 0xCAFE',
  });
  return undefined;
}

async function compare(test: Tree, type: string, facade: Facade, report: Report): Promise<void> {
  const search = async (at: Tree, query: string): Promise<readonly unknown[] | undefined> => {
    try {
      const { json } = await facade.search({ type, parameters: [...new URLSearchParams(query)] }, CONTEXT);
      const bundle = JSON.parse(json) as { entry?: readonly { readonly resource: unknown }[] };
      return bundle.entry?.map(({ resource }) => resource) ?? [];
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const isRefused = error instanceof FhirError || error instanceof DatabaseError;
      report.error(
        'failed-test',
        at.at,
        isRefused ? `this search is refused: ${error.message}` : `the test breaks off: ${error.message}`,
        {
          ...(isRefused ? {} : { expected: 'values that the types of the columns can hold' }),
        },
      );
      return undefined;
    }
  };
  const wanted = child(test, 'resource');
  const made = wanted && (await search(wanted, ''));
  if (wanted && made) {
    const differences = made.map(resource => differencesOf(wanted, resource, type));
    const [nearest] = differences.sort((a, b) => a.length - b.length);
    if (!nearest) report.error('failed-test', wanted.at, `the rows make no ${type}`);
    for (const { at, message, expected, found } of nearest ?? [])
      report.error('failed-test', at, message, { expected, found });
  }
  for (const query of scalarsOf(child(test, 'matches'))) {
    if ((await search(query, query.text))?.length === 0)
      report.error('failed-test', query.at, `finds no ${type}, and should`);
  }
  for (const query of scalarsOf(child(test, 'misses'))) {
    if (((await search(query, query.text))?.length ?? 0) > 0)
      report.error('failed-test', query.at, `finds ${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type}, and should not`);
  }
}

interface Difference {
  readonly at: Tree['at'];
  readonly message: string;
  readonly expected: string;
  readonly found: string;
}

/** Returns how a part of a resource differs from the expected one; further elements do not matter. */
function differencesOf(wanted: Tree, found: unknown, path: string): readonly Difference[] {
  if (wanted.kind === 'scalar') {
    const text = found === undefined || typeof found === 'object' ? undefined : String(found);
    if (text === wanted.text) return [];
    return [{ at: wanted.at, message: `${path} is another`, expected: wanted.text, found: text ?? 'nothing' }];
  }
  const members = wanted.kind === 'list' ? wanted.items.map((value, i) => ({ key: `${i}`, value })) : wanted.entries;
  return members.flatMap(({ key, value }) => {
    const inner: unknown = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
    return differencesOf(value, inner, wanted.kind === 'list' ? `${path}[${key}]` : `${path}.${key}`);
  });
}
