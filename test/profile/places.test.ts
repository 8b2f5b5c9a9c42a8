/** Positions along a key: they are between its ends, in order, and spread over the existing values. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { keyBetween } from '../../src/profile/places.ts';
import { profileTable } from '../../src/profile/table.ts';
import { type ColumnType, UNICODE } from '../../src/sql/column-type.ts';
import type { TableRows } from '../../src/sql/database.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const NUMBER: ColumnType = { kind: 'integer', bits: 64 };

test('sampling positions are evenly spaced for numbers, digits and letters', () => {
  expect([0, 0.5, 0.99].map(at => keyBetween(NUMBER, '1', '100', at))).toEqual([1, 51, 100]);
  expect([0, 0.5, 0.99].map(at => keyBetween(NUMBER, 1, 2, at))).toEqual([1, 2, 2]);
  expect([0, 0.5, 0.99].map(at => keyBetween(UNICODE, 'U2015-7', 'U2026-1', at))).toEqual(['U2015', 'U2021', 'U2026']);
  expect([0, 0.5].map(at => keyBetween(UNICODE, '0a', 'ff', at))).toEqual(['0a', '85']);
  expect(keyBetween(UNICODE, 'same', 'same', 0.5)).toBeUndefined();
  expect(keyBetween(UNICODE, 'a', '9', 0.5)).toBeDefined();
  expect(keyBetween(UNICODE, 'ä', 'ö', 0.5)).toBeUndefined();
  expect(keyBetween(NUMBER, null, 5, 0.5)).toBeUndefined();
});

test('a sampling position is between the ends', () => {
  const key = fc.stringMatching(/^[A-Z]{0,2}[0-9]{1,12}$/);
  fc.assert(
    fc.property(key, key, fc.double({ min: 0, max: 0.999, noNaN: true }), (one, other, at) => {
      const [least = '', greatest = ''] = [one, other].toSorted((a, b) => (a < b ? -1 : 1));
      const found = keyBetween(UNICODE, least, greatest, at);
      if (typeof found !== 'string') return;
      expect(found.slice(0, found.length) <= greatest.slice(0, found.length)).toBe(true);
      expect(found >= least.slice(0, found.length)).toBe(true);
    }),
  );
});

async function profileOf(schema: string, rows: number, size?: TableRows) {
  const folder = temporaryFolder();
  const written = new DatabaseSync(join(folder, 'a.sqlite'));
  written.exec(schema);
  written.close();
  const database = openSqlite(join(folder, 'a.sqlite'));
  onTestFinished(() => database.close());
  const info = (await database.catalog()).tables.get('t');
  if (!info) throw new Error('no table');
  const { signal } = new AbortController();
  const options = { rows, size, milliseconds: 60_000, signal, showing: () => 'always' as const };
  return profileTable(database, { name: identifier('T') }, info, options);
}

const TWENTY_THOUSAND = { count: 20_000, kind: 'exact' } as const;
const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)';

test.each([
  ['numbers', 'INTEGER', '1 + (i % 4 = 0)'],
  ['numbers far apart', 'INTEGER', 'iif(i % 4 = 0, 900, 1)'],
  ['texts', 'TEXT', "iif(i % 4 = 0, 'S', 'N')"],
])('a key that begins with a few %s is sampled along its next column', async (_, type, value) => {
  const profiled = await profileOf(
    `CREATE TABLE T (A ${type} NOT NULL, B INTEGER NOT NULL, PRIMARY KEY (A, B)); ${NUMBERS} INSERT INTO T SELECT ${value}, i FROM n`,
    2000,
    TWENTY_THOUSAND,
  );
  expect(profiled).toMatchObject({ read: 2000, sample: 'from 20 places along A, B' });
  const [a, b] = profiled.columns.map(({ profile }) => profile);
  expect(a?.distinct).toEqual({ count: 2, atLeast: false });
  const [most = 0, least = 0] = a?.frequent?.map(({ rows }) => rows) ?? [];
  expect(least).toBeGreaterThan(400);
  expect(most + least).toBe(2000);
  expect(b?.distinct.count).toBeGreaterThan(1500);
});

test('a text key is sampled along the prefixes of its texts', async () => {
  const profiled = await profileOf(
    `CREATE TABLE T (A TEXT PRIMARY KEY, B INTEGER); ${NUMBERS} INSERT INTO T SELECT 'U' || (2006 + i / 1000) || '-' || i, i / 1000 FROM n`,
    2000,
    TWENTY_THOUSAND,
  );
  expect(profiled).toMatchObject({ read: 2000, sample: 'from 20 places along A' });
  expect(profiled.columns[1]?.profile?.distinct.count).toBeGreaterThan(18);
});

test.each([
  [{ count: 100, kind: 'about' }, 100, 'the first'],
  [{ count: 100, kind: 'about' }, 200, undefined],
  [{ count: 300, kind: 'most' }, 200, undefined],
  [{ count: 200, kind: 'about' }, 200, undefined],
  [undefined, 100, 'from 20 places along A'],
  [undefined, 200, undefined],
] as const)('of 200 rows, said to be %j, %i are read: %s', async (about, rows, sample) => {
  const schema = `CREATE TABLE T (A INTEGER PRIMARY KEY); ${NUMBERS} INSERT INTO T SELECT i FROM n WHERE i <= 200`;
  const profiled = await profileOf(schema, rows, about);
  const size = sample === undefined ? { count: 200, kind: 'exact' } : about;
  expect([profiled.sample, profiled.read, profiled.rows]).toEqual([sample, rows, size]);
});
