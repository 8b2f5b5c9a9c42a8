/**
 * WardBook, the third database, under its pack: for the law, sorts, documents and exports. In: maybe other files of the
 * pack. Out: the facade over a file of its own, and the way to be rid of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildThird } from '../../fixtures/third/build.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { type Demo, demoOver } from './demo.ts';

export const THIRD_PACK = new URL('../../fixtures/third/pack/', import.meta.url).pathname;

/** Builds the database in a folder of its own and loads the pack over it. */
export async function openThird(): Promise<Demo & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-third-'));
  const file = join(folder, 'third.sqlite');
  buildThird(file);
  const database = openSqlite(file);
  const demo = await demoOver(database, undefined, THIRD_PACK);
  return {
    ...demo,
    file,
    async close() {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
