/**
 * Opens the fixture in a database for one suite. In: an engine, a number of patients, and optionally how to spoil it.
 * Out: the database as the server opens it, and a function that removes it.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Cell, Row } from '../../fixtures/cells.ts';
import { schema } from '../../fixtures/schema.ts';
import type { Database } from '../../src/sql/database.ts';
import type { SqlServerAddress } from '../../src/sql/mssql/address.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { writeFixture } from '../fixtures/built.ts';
import { createTestDatabase, fillWithFixture } from './mssql.ts';
import { askSampleOf } from './sample.ts';

export type EngineName = 'sqlite' | 'mssql';

/** The engine of the run: vitest.config.ts runs suites of the whole pipeline once more on SQL Server. */
export const ENGINE: EngineName = process.env['TEST_ENGINE'] === 'mssql' ? 'mssql' : 'sqlite';

export interface OpenFixture {
  readonly database: Database;
  /** Address of a SQL Server. */
  readonly address?: SqlServerAddress;
  /** Closes and drops it. */
  close(): Promise<void>;
}

/** `spoil` changes a SQLite file in place; `sound` is the unchanged fixture. */
export type Spoil = (file: string, sound: Database) => Promise<void>;

/** Opens a separate fixture; `url` names another SQL Server than MSSQL_URL. */
export async function openFixture(
  patients: number,
  spoil?: Spoil,
  engine = ENGINE,
  url?: string,
): Promise<OpenFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const remove = (): void => rmSync(folder, { recursive: true });
  const file = join(folder, 'fixture.sqlite');
  try {
    if (engine === 'sqlite' || spoil) writeFixture(patients, file);
    if (spoil) await spoiled(file, spoil);
    if (engine === 'mssql') return await onMssql(patients, spoil ? rowsOf(file) : undefined, url);
    const database = openSqlite(file);
    return {
      database,
      async close() {
        await database.close();
        remove();
      },
    };
  } finally {
    if (engine === 'mssql') remove();
  }
}

async function spoiled(file: string, spoil: Spoil): Promise<void> {
  const copy = `${file}.sound`;
  copyFileSync(file, copy);
  const sound = openSqlite(copy);
  await spoil(file, sound);
  await sound.close();
}

async function onMssql(patients: number, source?: Iterable<Row>, url?: string): Promise<OpenFixture> {
  const there = await createTestDatabase(url);
  try {
    await fillWithFixture(there, patients, source);
    const database = await there.open();
    if (there.isBabelfish) askSampleOf(database);
    return {
      database,
      address: there.address,
      async close() {
        await database.close();
        await there.drop();
      },
    };
  } catch (error) {
    await there.drop();
    throw error;
  }
}

/** The same values as in a SQLite file of the fixture. */
function* rowsOf(file: string): Generator<Row> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    for (const { name } of schema) {
      for (const row of database.prepare(`SELECT * FROM ${name}`).iterate()) {
        yield { table: name, row: row as Record<string, Cell> };
      }
    }
  } finally {
    database.close();
  }
}
