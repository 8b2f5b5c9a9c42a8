/**
 * Makes a folder with those above it. In: a path. Node's own recursive `mkdir` never returns if the system says ENOENT
 * below an existing folder, as it does below /proc.
 */
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Whether a folder can be written, or could be made where it is not there yet. Leaves nothing behind. In: its path.
 * Out: undefined if so, else the system's code for why not (`EACCES`, `EROFS`, `ENOTDIR`). A disk that is full may have
 * room later.
 */
export function whyNotWritable(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    const above = dirname(folder);
    return above === folder ? 'ENOENT' : whyNotWritable(above);
  }
  if (!found.isDirectory()) return 'ENOTDIR';
  try {
    // The permissions alone do not tell: the superuser has all of them, on file systems that take nothing, too.
    rmdirSync(mkdtempSync(join(folder, '.lintel-')));
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return FULL.has(String(error.code)) ? undefined : String(error.code);
  }
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Makes a folder and those above it that are missing; one that is there stays as it is. Throws what the system says.
 */
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
