/**
 * Folders that are not there yet. In: a path. Out: the folder, with those above it. Node's own recursive `mkdir` never
 * returns where the system says ENOENT below a folder that is there, as it does below /proc.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder and those above it that are missing; one that is there stays as it is. Throws what the system says. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(folder);
  if (!existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
