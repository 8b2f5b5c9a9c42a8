/**
 * Opens WardBook, the third database, with its pack, for tests of the law, sorts, documents and exports. In: optionally
 * other files of the pack. Out: the facade over a separate file, and a function that removes it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildThird } from '../../fixtures/third/build.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { type Demo, demoOver } from './demo.ts';

export const THIRD_PACK = new URL('../../fixtures/third/pack/', import.meta.url).pathname;

/** Builds the database in a separate folder and loads the pack over it. */
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
