/**
 * Folders that are not there yet. In: a path. Out: the folder, with those above it. Node's own recursive `mkdir` never
 * returns where the system says ENOENT below a folder that is there, as it does below /proc.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Whether a folder can be written, or could be made where it is not there yet. Makes nothing. In: its path. Out: undefined
 * if so, else the system's code for why not (`EACCES`, `EROFS`, `ENOTDIR`).
 */
export function whyNotWritable(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    const above = dirname(folder);
    return above === folder ? 'ENOENT' : whyNotWritable(above);
  }
  if (!found.isDirectory()) return 'ENOTDIR';
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'EACCES';
  }
}

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
