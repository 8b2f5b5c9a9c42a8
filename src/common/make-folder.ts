/**
 * Creates a folder and its missing parents. In: a path. Node's own recursive `mkdir` never returns if the system
 * reports ENOENT below an existing folder, as it does below /proc.
 */

import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './reason.ts';

/**
 * Checks whether a folder is writable, or could be created. Leaves nothing behind. In: its path. Out: undefined if so,
 * else the system's error code (`EACCES`, `EROFS`, `ENOTDIR`). A full disk counts as writable, because space may become
 * free.
 */
export function whyNotWritable(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    const above = dirname(folder);
    return above === folder ? 'ENOENT' : whyNotWritable(above);
  }
  if (!found.isDirectory()) return 'ENOTDIR';
  try {
    // Permissions are not enough: the superuser has all of them even on a read-only file system.
    rmdirSync(mkdtempSync(join(folder, '.lintel-')));
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    return FULL.has(code) ? undefined : code;
  }
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Creates a folder and its missing parents; an existing one stays unchanged. Throws the system's error. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(folder);
  if (!existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
