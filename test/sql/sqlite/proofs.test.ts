/** Proven forms of rows that are stored between starts: when they are trusted, and when not. */
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { sealed } from '../../../src/common/sealed-file.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A time after all writes of a test. */
const LATER = (): number => Date.now() + 60_000;

interface Kept {
  readonly file: string;
  readonly folder: string;
  readonly told: readonly string[];
  /** Starts: opens the file, examines its rows, and closes it. Returns how many rows have which form. */
  start(options?: { file?: string; software?: string; now?: () => number; isAsked?: () => boolean }): Promise<unknown>;
  alter(sql: string): void;
  /** The one file of proofs. */
  proof(): string;
  /** Replaces text in the file of proofs, and updates its checksum. */
  forge(from: string, to: string): void;
}

function kept(): Kept {
  const root = temporaryFolder();
  const file = join(root, 'a.sqlite');
  const folder = join(root, 'data', 'forms');
  const told: string[] = [];
  const alter = (sql: string): void => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  alter("CREATE TABLE T (C DATETIME, N INT); INSERT INTO T VALUES ('2024-03-10 08:30:00', 1)");
  const proof = (): string => {
    const [only, ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    return join(folder, only ?? '');
  };
  return {
    ...{ file, folder, told, alter, proof },
    async start({ file: of = file, software = '1', now = LATER, isAsked = () => true } = {}) {
      const announce = (text: string): void => void told.push(text);
      const database = openSqlite(of, { proofs: { folder, announce, software, now } });
      const catalog = await database.forms?.(await database.catalog(), isAsked);
      await database.close();
      const { form, written } = catalog?.tables.get('t')?.columns.get('c') ?? {};
      return [form, written?.map(({ rows }) => rows)];
    },
    forge(from, to) {
      const body = readFileSync(proof(), 'utf8').split('\n')[1]?.replace(from, to) ?? '';
      writeFileSync(proof(), sealed('proofs/1', body));
    },
  };
}

const FOUND = [{ separator: ' ', length: 19 }, [1]];

test('a start scans no row of an unchanged file', async () => {
  const { start, forge, proof, told } = kept();
  expect(await start()).toEqual(FOUND);
  expect(statSync(proof()).mode & 0o777).toBe(0o600);
  // The value comes only from the file of proofs.
  forge('"rows":1', '"rows":77');
  expect(await start()).toEqual([FOUND[0], [77]]);
  expect(told).toEqual([]);
});

test('a changed file is scanned again, whatever its modification time', async () => {
  const { start, forge, alter, file } = kept();
  await start();
  forge('"rows":1', '"rows":77');
  const { atime, mtime } = statSync(file);
  alter("UPDATE T SET C = '2024-03-10T08:30:00'");
  utimesSync(file, atime, mtime);
  expect(await start()).toEqual([{ separator: 'T', length: 19 }, [1]]);
});

test('a commit in the write-ahead log only is a change', async () => {
  const { start, forge, file } = kept();
  const writer = new DatabaseSync(file);
  onTestFinished(() => writer.close());
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  await start();
  forge('"rows":1', '"rows":77');
  expect(await start()).toEqual([FOUND[0], [77]]);
  writer.exec("INSERT INTO T VALUES ('2024-03-11 08:30:00', 2)");
  expect(await start()).toEqual([FOUND[0], [2]]);
});

test('proofs of one database are not used for its copy', async () => {
  const { start, forge, file } = kept();
  await start();
  forge('"rows":1', '"rows":77');
  copyFileSync(file, `${file}.copy`);
  expect(await start({ file: `${file}.copy` })).toEqual(FOUND);
  // Another file at the same path.
  rmSync(file);
  copyFileSync(`${file}.copy`, file);
  expect(await start()).toEqual(FOUND);
});

test('another software version scans again', async () => {
  const { start, forge } = kept();
  await start();
  forge('"rows":1', '"rows":77');
  expect(await start({ software: '2' })).toEqual(FOUND);
});

test('new columns are scanned, and added to the proofs', async () => {
  const { start, forge, proof } = kept();
  expect(await start({ isAsked: () => false })).toEqual(['any', undefined]);
  expect(await start()).toEqual(FOUND);
  forge('"rows":1', '"rows":77');
  expect(await start()).toEqual([FOUND[0], [77]]);
  expect(JSON.parse(readFileSync(proof(), 'utf8').split('\n')[1] ?? '').columns).toHaveLength(2);
});

test.each([
  ['one bit', (text: string) => text.replace('"rows":1', '"rows":3')],
  ['the end', (text: string) => text.slice(0, -9)],
  ['everything', () => ''],
])('a proof file without %s is ignored with a message, and the rows are scanned', async (_, damage) => {
  const { start, proof, told } = kept();
  await start();
  const file = proof();
  writeFileSync(file, damage(readFileSync(file, 'utf8')));
  expect(await start()).toEqual(FOUND);
  expect(told).toEqual([expect.stringContaining(`${file} is damaged and was set aside as ${file}.damaged`)]);
  expect(await start()).toEqual(FOUND);
  expect(told).toHaveLength(1);
});

test('a file written a moment ago gets no proof, as another write may have the same time', async () => {
  const { start, folder } = kept();
  expect(await start({ now: () => Date.now() })).toEqual(FOUND);
  expect(() => readdirSync(folder)).toThrow('ENOENT');
});

test('a read-only folder is reported, without other effects', async () => {
  const { start, folder, told, file } = kept();
  writeFileSync(join(file, '..', 'data'), 'a file where the folder should be');
  expect(await start()).toEqual(FOUND);
  expect(told).toEqual([expect.stringContaining(folder)]);
});

test('proofs of at most twenty databases are stored', async () => {
  const { start, folder, file } = kept();
  for (let i = 0; i < 23; i++) {
    copyFileSync(file, `${file}${i}`);
    await start({ file: `${file}${i}` });
  }
  expect(readdirSync(folder)).toHaveLength(20);
});
