/**
 * Locks a folder for one process. In: the folder. Out: a lock that the operating system releases however the process
 * ends, so that no stale lock remains. It is SQLite's lock on an empty file.
 * https://sqlite.org/lockingv3.html
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { touchPrivate } from '../auth/private-file.ts';

export interface FolderLock {
  /**
   * Takes the lock, and makes the folder if necessary. False: another process has it. Throws errors of the file system.
   * The caller must keep a reference: garbage collection of the lock would release it.
   */
  take(): boolean;
  release(): void;
}

const FILE = 'lock';
/** SQLITE_BUSY */
const BUSY = 5;

export function folderLock(folder: string): FolderLock {
  let held: DatabaseSync | undefined;
  return {
    take() {
      held ??= lock(folder);
      return held !== undefined;
    },
    release() {
      held?.close();
      held = undefined;
    },
  };
}

function lock(folder: string): DatabaseSync | undefined {
  const file = join(folder, FILE);
  touchPrivate(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return undefined;
    throw error;
  }
}
