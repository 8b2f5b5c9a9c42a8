/**
 * Makes a test of a row. In: a mapping and a key. Out: the text of a test: the rows that the resource uses, with
 * invented values, and the resource that they become, made by the code that runs tests. Values that cannot be replaced
 * are left out and reported.
 */
import { randomInt } from 'node:crypto';
import { overRows, TEST_BASE, testsOf } from '../../check/pack-tests.ts';
import { contentOf, type StoredRow } from '../../law/fetched-rows.ts';
import { plainDigits } from '../../law/forms.ts';
import { createReport } from '../../mapping/load/problem.ts';
import type { Mapping, Registry } from '../../mapping/model.ts';
import type { Catalog } from '../../sql/catalog.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { type TableName, tableKey } from '../../sql/identifier.ts';
import { dayOf } from '../../time/calendar.ts';
import { PreviewError, type Previewing, type RowRead, readRow } from '../preview.ts';
import { replaced } from './replace.ts';
import { Invented, type Random } from './tokens.ts';
import { keptForm, usesIn } from './uses.ts';

export interface Recorded {
  /** Path in the pack. */
  readonly file: string;
  /** One document of YAML. */
  readonly test: string;
  /** Columns that are NULL in the test, with the reason. */
  readonly leftOut: readonly { readonly table: string; readonly column: string; readonly why: string }[];
  /** Elements of the original resource that the invented rows do not make. */
  readonly notMade: readonly string[];
}

/** The registry and catalog that the pack's tests use. */
export interface TestGround {
  readonly registry: Registry;
  readonly catalog: Catalog;
}

/** Random numbers that cannot be reproduced. */
export const DRAWN: Random = () => randomInt(2 ** 32) / 2 ** 32;

/** A test with more rows would be unreadable. */
const MOST_ROWS = 200;

/** Makes the test of a row. Throws PreviewError if that is impossible. Rejects with DatabaseError. */
export async function recordRow(
  mapping: Mapping,
  key: readonly string[],
  asking: Previewing,
  ground: TestGround,
  random: Random,
): Promise<Recorded> {
  const read = await readRow(mapping, key, asking);
  const { reason } = read.preview;
  if (reason !== undefined) throw new PreviewError(`The row is no resource: ${reason}`);
  const file = testFileOf(mapping);
  const { rows, leftOut } = inventedRows(mapping, read, asking.registry, random);
  const lost = leftOut.find(({ table, column }) => isOfKey(mapping, table, column));
  if (lost) throw new PreviewError(`${lost.table}.${lost.column} is a key, and cannot be replaced: ${lost.why}`);
  const bare = testText(mapping, rows, leftOut);
  const served = await overOne(file, bare, ground, async ({ registry, database, facade }) => {
    const same = registry.mappings.find(({ name }) => name === mapping.name);
    const newKey = mapping.source.key
      .filter(({ alias }) => alias === mapping.source.alias)
      .map(({ column }) => rows[0]?.row.get(column) ?? '');
    if (!same) throw new PreviewError('The mapping has errors where its tests run');
    const { now, signal } = asking;
    return (await readRow(same, newKey, { registry, database, facade, now, signal, base: TEST_BASE })).preview;
  });
  if (served.reason !== undefined || served.resource === undefined || served.id === undefined)
    throw new PreviewError(`With invented values the row is no resource: ${served.reason ?? 'it is hidden'}`);
  const { resourceType: _, ...resource } = served.resource;
  const test = testText(mapping, rows, leftOut, { resource, id: served.id });
  const problems = await testsOf(file, test, ground.registry, ground.catalog);
  if (problems.length > 0) throw new PreviewError(`The test that was made fails: ${problems[0]?.message}`);
  const notMade = read.preview.elements.map(({ path }) => path).filter(path => !hasPath(served.resource, path));
  return { file, test, leftOut, notMade };
}

function isOfKey({ source }: Mapping, table: string, column: string): boolean {
  return source.table.name === table && source.key.some(key => key.alias === source.alias && key.column === column);
}

function hasPath(resource: unknown, path: string): boolean {
  let at: unknown = resource;
  for (const [name] of path.matchAll(/[^.[\]]+/g)) {
    at = typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined;
  }
  return at !== undefined;
}

/** Returns the test file beside the file of the mapping. */
function testFileOf({ at }: Mapping): string {
  return `${at.file.replace(/\.ya?ml$/, '')}.test.yaml`;
}

interface InventedRow {
  readonly table: TableName;
  /** Without NULL values. */
  readonly row: ReadonlyMap<string, string>;
}

function inventedRows(
  mapping: Mapping,
  { row, rows }: RowRead,
  registry: Registry,
  random: Random,
): { readonly rows: readonly InventedRow[]; readonly leftOut: Recorded['leftOut'] } {
  const fetched = rows.fetched();
  const { table } = mapping.source;
  const own = tableKey(table);
  const others = [...(fetched ?? [])].flatMap(([name, { table: of, rows: some }]) =>
    some
      .filter(one => name !== own || contentOf(one) !== contentOf(row))
      .map((one): { table: TableName; row: StoredRow } => ({ table: of, row: one })),
  );
  if (fetched === undefined || others.length >= MOST_ROWS)
    throw new PreviewError(`The resource is made of more than ${MOST_ROWS} rows, which are too many for a test`);
  const all = [{ table, row }, ...others];
  const { usesOf, codeTables } = usesIn(registry);
  const cells = all.flatMap(one =>
    rows.columnsOf(one.table).map(column => ({
      column,
      of: one,
      uses: usesOf(one.table, column.column),
      stored: inDigits(one.row.get(column.column) ?? null),
    })),
  );
  for (const { of, uses, stored } of cells) {
    if (uses.isTableCode && stored !== null && codeTables.has(tableKey(of.table)))
      uses.kept.add(keptForm(String(stored)));
  }
  const texts = cells.flatMap(({ stored, uses }) =>
    stored === null || stored instanceof Uint8Array || uses.kept.has(keptForm(String(stored))) ? [] : [String(stored)],
  );
  const known = cells.flatMap(({ uses }) => [...uses.kept, ...uses.codes]);
  const below = (end: number): number => Math.floor(random() * end);
  const days = new Set(texts.flatMap(daysIn));
  let moved = 0;
  // The shift must not turn one of the rows' dates into another; with many rows this may be impossible.
  for (let tries = 0; tries < 200; tries++) {
    moved = -(400 + below(1400));
    if (![...days].some(day => days.has(day + moved))) break;
  }
  const shift = { days: moved, hours: 1 + below(22), minutes: 1 + below(58) };
  const replacing = { usesOf, shift, invented: new Invented(texts, new Set(known), random) };
  const leftOut = new Map<string, Recorded['leftOut'][number]>();
  const invented = all.map(
    one =>
      new Map<string, string>(
        cells.flatMap(({ of, column, uses, stored }) => {
          if (of !== one) return [];
          const other = replaced(stored, column.type, uses, replacing);
          if ('leftOut' in other) {
            const omission = { table: one.table.name, column: column.column, why: other.leftOut };
            leftOut.set(`${omission.table} ${omission.column}`, omission);
            return [];
          }
          return other.text === null ? [] : [[column.column, other.text] as const];
        }),
      ),
  );
  return {
    rows: all.map(({ table: of }, i) => ({ table: of, row: invented[i] ?? new Map() })),
    leftOut: [...leftOut.values()],
  };
}

/** Returns the dates that a text contains, year first. */
function daysIn(text: string): readonly number[] {
  return [...text.matchAll(/(?<!\d)(\d{4})([-/.]?)(\d\d)\2(\d\d)(?!\d)/g)].map(([, year, , month, day]) =>
    dayOf(Number(year), Number(month), Number(day)),
  );
}

/** Calls `work` with the rows of a test. */
async function overOne<T>(
  file: string,
  text: string,
  { registry, catalog }: TestGround,
  work: Parameters<typeof overRows<T>>[4],
): Promise<T> {
  const report = createReport();
  const made = await overRows({ file, text }, registry, catalog, report, work);
  const [problem] = report.problems();
  if (made === undefined || problem)
    throw new PreviewError(`The test cannot be made: ${problem?.message ?? 'no rows'}`);
  return made;
}

function testText(
  mapping: Mapping,
  rows: readonly InventedRow[],
  leftOut: Recorded['leftOut'],
  made?: { readonly resource: object; readonly id: string },
): string {
  const byTable = Map.groupBy(rows, ({ table }) => table.name);
  const tables = [...byTable].flatMap(([name, some]) => [
    `  ${keyText(name)}:`,
    ...some.map(
      ({ row }) => `    - { ${[...row].map(([key, text]) => `${keyText(key)}: ${JSON.stringify(text)}`).join(', ')} }`,
    ),
  ]);
  return [
    `# A row of ${mapping.source.table.name}, recorded with invented values.`,
    ...leftOut.map(({ table, column, why }) => `# Left out: ${table}.${column} (${why}).`),
    `mapping: ${mapping.name}`,
    'rows:',
    ...tables,
    ...(made
      ? [
          `resource:`,
          ...JSON.stringify(made.resource, undefined, 2)
            .split('\n')
            .map(line => `  ${line}`),
          `matches: [${JSON.stringify(`_id=${made.id}`)}]`,
        ]
      : []),
    '',
  ].join('\n');
}

function keyText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

/** Writes numbers without an exponent, because its letter would be replaced. */
function inDigits(stored: SqlValue): SqlValue {
  return typeof stored === 'number' ? plainDigits(stored) : stored;
}
