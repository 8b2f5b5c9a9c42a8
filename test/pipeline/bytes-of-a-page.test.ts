/**
 * Pages whose resources have many bytes: they end early and continue each other, so that a walk along `next` finds the
 * same resources in the same order as without a bound.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Facade } from '../../src/facade.ts';
import type { Registry } from '../../src/mapping/model.ts';
import { type Match, streamMatches } from '../../src/pipeline/page.ts';
import { createRooms, openSession } from '../../src/pipeline/session.ts';
import { shapeStore } from '../../src/pipeline/shapes.ts';
import { branchesOf } from '../../src/plan/branches.ts';
import { environment } from '../../src/plan/environment.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import type { Database } from '../../src/sql/database.ts';
import type { Row } from '../../src/sql/plan.ts';
import { bytesOf } from '../../src/sql/row-limits.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { facadeOver } from '../facade-over.ts';
import { openSmallFacade } from '../plan/small-pack.ts';
import { runsOf } from '../share.ts';

const SCHEMA = `
CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, LETTER TEXT);
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, PERSON_NO INTEGER, MADE DATETIME, BODY TEXT, MORE TEXT);
CREATE TABLE SCAN (NO INTEGER NOT NULL PRIMARY KEY, PERSON_NO INTEGER, MADE DATETIME, BODY BLOB);
CREATE TABLE PART (NO INTEGER NOT NULL PRIMARY KEY, NOTE_NO INTEGER NOT NULL, BODY TEXT);
CREATE INDEX PART_NOTE ON PART (NOTE_NO);
`;

const note = (mapping: string, id: string, body: string, more: string): string => `mapping: ${mapping}
resource: DocumentReference
source: { table: ${mapping === 'scans' ? 'SCAN' : 'NOTE'}, as: n, key: [NO]${more} }
id: "${id}-{NO}"
elements:
  status: current
  date: { from: MADE }
  subject: { ref: people, on: { NO: PERSON_NO } }
  content:
    - attachment: { title: { from: NO }, data: { from: ${body}, via: base64 } }
`;

const PARTS = `    - each: { table: PART, as: p, on: { NOTE_NO: NO }, order: [NO] }
      item: { attachment: { title: { from: p.BODY } }, needs: [attachment] }
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  address: [{ text: { from: LETTER } }]
`,
  'note.yaml': note('notes', 'n', 'BODY', '') + PARTS,
  // A second resource of the same row.
  'more.yaml': note('addenda', 'a', 'MORE', ', where: { present: [MORE] }'),
  'scan.yaml': note('scans', 's', 'BODY', ''),
};

const CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;

interface Entry {
  readonly resource: { readonly resourceType: string; readonly id: string };
  readonly search: { readonly mode: string };
}

interface Page {
  readonly json: string;
  readonly entry: readonly Entry[];
  readonly next: string | undefined;
}

async function pageOf(facade: Facade, query: string): Promise<Page> {
  const parameters = [...new URLSearchParams(query)];
  const { json } = await facade.search({ type: 'DocumentReference', parameters }, CONTEXT);
  const { entry = [], link } = JSON.parse(json) as {
    entry?: readonly Entry[];
    link: readonly { relation: string; url: string }[];
  };
  const next = link.find(({ relation }) => relation === 'next')?.url;
  return { json, entry, next: next?.slice(next.indexOf('?') + 1) };
}

/** Walks along `next`. A walk that goes on without end fails. */
async function walk(facade: Facade, query: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let at: string | undefined = query; at !== undefined; ) {
    const page: Page = await pageOf(facade, at);
    pages.push(page);
    expect(pages.length).toBeLessThan(200);
    at = page.next;
  }
  return pages;
}

const ofMode = (page: Page, mode: string): readonly string[] =>
  page.entry
    .filter(({ search }) => search.mode === mode)
    .map(({ resource }) => `${resource.resourceType}/${resource.id}`);

const bytesOfMode = (page: Page, mode: string): number =>
  page.entry.reduce(
    (sum, { search, resource }) => sum + (search.mode === mode ? JSON.stringify(resource).length : 0),
    0,
  );

interface Clinic {
  readonly registry: Registry;
  readonly database: Database;
  readonly write: (sql: string) => void;
  /** A server on which the largest resource has so many bytes. */
  readonly withBound: (bytes: number | undefined, seen?: (rows: readonly Row[]) => void) => Facade;
}

async function clinic(): Promise<Clinic> {
  const { facade, file } = await openSmallFacade(SCHEMA, PACK);
  const writer = new DatabaseSync(file);
  writer.exec('PRAGMA synchronous = OFF');
  const database = openSqlite(file);
  onTestFinished(async () => {
    writer.close();
    await database.close();
  });
  return {
    registry: facade.registry,
    database,
    write: sql => writer.exec(sql),
    withBound: (answerBytes, seen) =>
      facadeOver({
        registry: facade.registry,
        answerBytes,
        database: {
          ...database,
          async query(...asked) {
            const rows = await database.query(...asked);
            seen?.(rows);
            return rows;
          },
        },
      }),
  };
}

const text = (length: number | null): string => (length === null ? 'NULL' : `'${'x'.repeat(length)}'`);
const day = (n: number | null): string =>
  n === null ? 'NULL' : `'2024-01-${String(n).padStart(2, '0')} 08:00:00.000'`;

const length = fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3000 }));
const rows = fc.record({
  letters: fc.array(length, { minLength: 3, maxLength: 3 }),
  notes: fc.array(
    fc.record({
      body: length,
      more: length,
      made: fc.option(fc.integer({ min: 1, max: 4 })),
      parts: fc.array(length, { maxLength: 3 }),
    }),
    { maxLength: 12 },
  ),
  scans: fc.array(fc.record({ body: length, made: fc.option(fc.integer({ min: 1, max: 4 })) }), { maxLength: 6 }),
});

function inserted({ letters, notes, scans }: typeof rows extends fc.Arbitrary<infer T> ? T : never): string {
  const parts = notes.flatMap((one, i) => one.parts.map(body => ({ note: i + 1, body })));
  const values = (table: string, all: readonly string[]): string =>
    `DELETE FROM ${table};${all.length === 0 ? '' : `INSERT INTO ${table} VALUES ${all.join()};`}`;
  return [
    values(
      'PERSON',
      letters.map((letter, i) => `(${i + 1}, ${text(letter)})`),
    ),
    values(
      'NOTE',
      notes.map((n, i) => `(${i + 1}, ${(i % 3) + 1}, ${day(n.made)}, ${text(n.body)}, ${text(n.more)})`),
    ),
    values(
      'SCAN',
      scans.map((s, i) => `(${i + 1}, ${(i % 3) + 1}, ${day(s.made)}, CAST(${text(s.body)} AS BLOB))`),
    ),
    values(
      'PART',
      parts.map(({ note: of, body }, i) => `(${i + 1}, ${of}, ${text(body)})`),
    ),
  ].join('\n');
}

const SORTS = ['', '_sort=date&', '_sort=-date&'];
const INCLUDES = ['', '_include=DocumentReference:subject&'];

test.each(SORTS)(
  '%s a walk finds the same resources in the same order, whatever the bound',
  { timeout: 60_000 },
  async sort => {
    const { write, withBound } = await clinic();
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(...INCLUDES),
        // The largest resource has some 8,500 bytes, four texts of 3,000 characters.
        fc.integer({ min: 20_000, max: 60_000 }),
        async (data, count, include, bytes) => {
          write(inserted(data));
          const query = `${sort}${include}_count=${count}`;
          const expected = (await walk(withBound(undefined), query)).flatMap(page => ofMode(page, 'match'));
          const pages = await walk(withBound(bytes), query);
          expect(pages.flatMap(page => ofMode(page, 'match'))).toEqual(expected);
          const all = new Map(pages.flatMap(page => page.entry.map(one => [one.resource.id, one.resource] as const)));
          for (const page of pages) {
            const matches = ofMode(page, 'match');
            // What a page includes has room of its own.
            if (matches.length > 1)
              for (const mode of ['match', 'include'])
                expect(bytesOfMode(page, mode)).toBeLessThanOrEqual(Math.ceil(bytes / 4));
            const subjects = page.entry.flatMap(one => Object(all.get(one.resource.id)).subject?.reference ?? []);
            if (include !== '') expect(ofMode(page, 'include').toSorted()).toEqual([...new Set(subjects)].toSorted());
          }
        },
      ),
      { numRuns: runsOf(60) },
    );
  },
);

test('a page without a bound of its own still ends before its bytes exceed a quarter of the largest resource', async () => {
  const { write, withBound } = await clinic();
  write(
    `INSERT INTO SCAN SELECT value, 1, NULL, zeroblob(3000) FROM generate_series(1, 40)`.replace(
      /generate_series\(1, 40\)/,
      `(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 40) SELECT value FROM n)`,
    ),
  );
  const fetched: number[] = [];
  const pages = await walk(
    withBound(100_000, found => fetched.push(found.reduce((sum, row) => sum + bytesOf(row), 0))),
    '_count=50',
  );
  expect(pages.flatMap(page => ofMode(page, 'match'))).toHaveLength(40);
  expect(pages.length).toBeGreaterThan(5);
  for (const { json } of pages) expect(json.length).toBeLessThan(25_000 + 3000);
  // Rows beyond the bound are never in memory: at most one that shows that there are more.
  expect(Math.max(...fetched)).toBeLessThan(25_000 + 3100);
});

test('a resource of more bytes than the largest is refused with a code, on its page and when it is read', async () => {
  const { write, withBound } = await clinic();
  write(`INSERT INTO NOTE VALUES (1, NULL, NULL, '${'x'.repeat(9000)}', NULL), (2, NULL, NULL, 'short', NULL)`);
  write(`INSERT INTO NOTE VALUES (3, NULL, NULL, 'many parts', NULL)`);
  write(`INSERT INTO PART VALUES ${Array.from({ length: 30 }, (_, i) => `(${i}, 3, '${'y'.repeat(400)}')`).join()}`);
  const small = withBound(8000);
  const refused = { kind: 'too-large', status: 400 };
  await expect(walk(small, '_count=1')).rejects.toMatchObject(refused);
  await expect(small.read('DocumentReference', 'n-1', [], CONTEXT)).rejects.toMatchObject(refused);
  await expect(small.read('DocumentReference', 'n-3', [], CONTEXT)).rejects.toMatchObject(refused);
  expect(await small.read('DocumentReference', 'n-2', [], CONTEXT)).toMatchObject({ id: 'n-2' });
  write(`INSERT INTO PERSON VALUES (1, '${'x'.repeat(9000)}')`);
  await expect(small.read('Patient', '1', [], CONTEXT)).rejects.toMatchObject(refused);
  // Without the large element it is small.
  expect(await small.read('Patient', '1', [['_elements', 'id']], CONTEXT)).toMatchObject({ id: '1' });
  const large = withBound(20_000);
  for (const id of ['n-1', 'n-2', 'n-3']) expect(await large.read('DocumentReference', id, [], CONTEXT)).toBeDefined();
});

test('includes of one match that exceed the bound are left out with a warning', async () => {
  const { write, withBound } = await clinic();
  write(`INSERT INTO PERSON VALUES (1, '${'x'.repeat(3000)}')`);
  const noted = Array.from({ length: 12 }, (_, i) => `(${i + 1}, 1, NULL, '${'x'.repeat(500)}', NULL)`);
  write(`INSERT INTO NOTE VALUES ${noted.join()}`);
  const facade = withBound(16_000);
  const { json } = await facade.search(
    { type: 'Patient', parameters: [['_revinclude', 'DocumentReference:subject']] },
    CONTEXT,
  );
  expect(json).toContain('LNT-192');
  expect(json.length).toBeLessThan(10_000);
});

test('a stream of an export has all rows, in lists of as many bytes as rows may have', async () => {
  const { write, registry, database } = await clinic();
  const noted = Array.from(
    { length: 40 },
    (_, i) => `(${i + 1}, 1, NULL, '${'x'.repeat(i % 7 === 0 ? 900 : 20)}', 'm')`,
  );
  write(`INSERT INTO NOTE VALUES ${noted.join()}`);
  const env = environment(registry, 0, FULL_VISIBILITY);
  const session = openSession(database, env, shapeStore(), { bulkhead: 'export' });
  const branches = branchesOf({ type: 'DocumentReference', filters: [], sort: [] }, env);
  const listsOf = async (bytes: number | undefined): Promise<readonly (readonly Match[])[]> => {
    const request = { selection: { kind: 'all' }, count: 10, cursor: undefined, bytes } as const;
    const lists: (readonly Match[])[] = [];
    for await (const { matches } of streamMatches(branches, request, session)) lists.push(matches);
    return lists;
  };
  const named = (lists: readonly (readonly Match[])[]): readonly string[] =>
    lists.flat().map(({ mapping, row }) => `${mapping.name} ${JSON.stringify(row)}`);
  const [whole, bounded] = [await listsOf(undefined), await listsOf(1000)];
  expect(named(whole)).toHaveLength(80);
  expect(named(bounded)).toEqual(named(whole));
  expect(bounded.length).toBeGreaterThan(whole.length);
  for (const list of bounded) {
    const rows = [...new Set(list.map(({ row }) => row))];
    // Besides the row of the cursor, which may come again.
    if (rows.length > 2) expect(rows.reduce((sum, row) => sum + bytesOf(row), 0)).toBeLessThanOrEqual(1000);
  }
});

test('at most four large answers are made at a time; who leaves passes the turn on, who gives up takes none', async () => {
  const rooms = createRooms(64_000_000);
  const [first, ...others] = Array.from({ length: 4 }, () => rooms(undefined));
  await Promise.all([first, ...others].map(room => room?.enlarge()));
  const impatient = new AbortController();
  const given = rooms(impatient.signal).enlarge();
  const waiting = rooms(undefined);
  const turn = waiting.enlarge();
  impatient.abort();
  await expect(given).rejects.toMatchObject({ reason: 'cancelled' });
  expect(waiting.isLarge).toBe(false);
  first?.leave();
  first?.leave();
  await turn;
  expect(waiting.isLarge).toBe(true);
  const fifth = rooms(undefined);
  void fifth.enlarge();
  await Promise.resolve();
  expect(fifth.isLarge).toBe(false);
});
