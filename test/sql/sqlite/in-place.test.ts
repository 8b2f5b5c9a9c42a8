/**
 * A SQLite file whose contents are replaced under the server, and a locked file: the answers meanwhile and afterwards.
 */
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { TRUE } from '../../../src/sql/construct.ts';
import type { Database } from '../../../src/sql/database.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { failureOf, planOf } from '../mssql/open.ts';

interface Files {
  readonly live: string;
  readonly other: string;
  readonly database: Database;
}

/** Two databases with the same change counter; one is open. `extra`: SQL for the other. */
function files(extra = ''): Files {
  const folder = temporaryFolder();
  const [live, other] = [join(folder, 'live.db'), join(folder, 'other.db')];
  const make = (path: string, from: number, more: string): void => {
    const raw = new DatabaseSync(path);
    raw.exec(`CREATE TABLE A (N INTEGER PRIMARY KEY, T TEXT);
      WITH RECURSIVE c (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM c WHERE n < ${from + 999})
      INSERT INTO A SELECT n, printf('%0200d', n) FROM c; ${more}`);
    raw.close();
  };
  make(live, 1, '');
  make(other, 5001, extra);
  const database = openSqlite(live, { look: 0 });
  onTestFinished(() => database.close());
  return { live, other, database };
}

const first = async (database: Database): Promise<unknown> => (await database.query(planOf(TRUE)))[0]?.[0];

test.each([
  ['as many changes', ''],
  ['more changes', 'UPDATE A SET T = T; UPDATE A SET T = T'],
  [
    'other tables before',
    'CREATE TABLE B (X); DROP TABLE A; CREATE TABLE A (T TEXT, N INTEGER); INSERT INTO A VALUES (NULL, 5001)',
  ],
])('new contents copied over the file, with %s, are read from then on', async (_title, extra) => {
  const { live, other, database } = files(extra);
  expect(await first(database)).toBe(1);
  const { ino } = statSync(live);
  copyFileSync(other, live);
  expect(statSync(live).ino).toBe(ino);
  expect(await first(database)).toBe(5001);
});

test('a truncated file is unavailable until it is complete again', async () => {
  const { live, other, database } = files();
  expect(await first(database)).toBe(1);
  const whole = readFileSync(other);
  for (const length of [0, 50, 4096, 20_000, whole.length - 4096]) {
    truncateSync(live, 0);
    writeFileSync(live, whole.subarray(0, length));
    expect((await failureOf(Promise.resolve(database.query(planOf(TRUE))))).reason, `${length} bytes`).toBe(
      'unavailable',
    );
  }
  writeFileSync(live, whole);
  expect(await first(database)).toBe(5001);
  await database.ping();
});

test('a file without a database header is unavailable until it has one again', async () => {
  const { live, other, database } = files();
  expect(await first(database)).toBe(1);
  writeFileSync(live, 'this is no database, however long it may be. '.repeat(400));
  expect((await failureOf(Promise.resolve(database.query(planOf(TRUE))))).reason).toBe('unavailable');
  copyFileSync(other, live);
  expect(await first(database)).toBe(5001);
});

test('commits of another program are visible on the same connection', async () => {
  const { live, database } = files();
  const writer = new DatabaseSync(live);
  onTestFinished(() => writer.close());
  for (let i = 1; i <= 20; i++) {
    writer.exec(`INSERT INTO A VALUES (${-i}, 'new')`);
    expect(await first(database)).toBe(-i);
  }
});

test('while a writer locks the file, waiting requests fail within two seconds, later ones at once', async () => {
  const { live, database } = files();
  const writer = new DatabaseSync(live);
  onTestFinished(() => writer.close());
  writer.exec('BEGIN EXCLUSIVE');
  const begun = performance.now();
  const failures = await Promise.all([1, 2, 3].map(() => failureOf(Promise.resolve(database.query(planOf(TRUE))))));
  // In sequence, like the statements of one request.
  for (let i = 0; i < 5; i++) failures.push(await failureOf(Promise.resolve(database.query(planOf(TRUE)))));
  // Eight waits in sequence would take at least 12 seconds; the load of the machine must not decide the test.
  expect(performance.now() - begun).toBeLessThan(8000);
  for (const { reason, publicText, retryAfter } of failures) {
    expect([reason, publicText]).toEqual(['unavailable', 'The database is locked by a program that writes to it']);
    expect(retryAfter).toBeGreaterThan(0);
  }
  writer.exec('ROLLBACK');
  expect(await first(database)).toBe(1);
});
