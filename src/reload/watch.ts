/**
 * Watches the files of a pack and of the packs that it extends. In: its folder, and a callback. Out: calls, one at a
 * time, after two checks in a row saw the same changed files. It polls names, times and sizes, because there are no
 * kernel events from network drives and bind mounts, nor after a folder was replaced.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packFolders } from '../mapping/load/read/folders.ts';

export interface WatchOptions {
  /** Milliseconds between two checks. */
  readonly every: number;
  /** `later`: not possible now; it is called again after the next check. */
  readonly changed: () => Promise<'done' | 'later'>;
}

export interface Watch {
  /** Resolves when no further call will follow. */
  stop(): Promise<void>;
}

/**
 * Starts to watch. The first call comes without a change, because files may have changed between their reading and the
 * first check.
 */
export function watchFolder(folder: string, { every, changed }: WatchOptions): Watch {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let known: string | undefined;
  let before: string | undefined;
  let seen: Seen = { folders: [folder], isWhole: false };

  const look = async (): Promise<void> => {
    let now = await signatureOf(seen.folders);
    // The packs that it extends are named in its files; a missing one may still appear.
    if (now !== before || !seen.isWhole) {
      seen = foldersOf(folder);
      now = await signatureOf(seen.folders);
    }
    if (now !== known && now === before && (await changed()) === 'done') known = now;
    before = now;
  };
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      looking = look().then(next);
    }, every).unref();
  };
  let looking = look().then(next);

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

interface Seen {
  readonly folders: readonly string[];
  /** True if no extended pack is missing. */
  readonly isWhole: boolean;
}

function foldersOf(folder: string): Seen {
  try {
    const { folders, problems } = packFolders(folder);
    return { folders: folders.map(({ path }) => path), isWhole: problems.length === 0 };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { folders: [folder], isWhole: false };
    throw error;
  }
}

async function signatureOf(folders: readonly string[]): Promise<string> {
  return (await Promise.all(folders.map(signatureOfOne))).join('\n');
}

/**
 * Returns a text that changes with every file that is written, added or removed. An unreadable folder counts as empty.
 */
async function signatureOfOne(folder: string): Promise<string> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter(entry => !entry.isDirectory()).map(entry => join(entry.parentPath, entry.name));
    const parts: string[] = [];
    for (const file of files.sort()) {
      const { ino, size, mtimeMs } = await stat(file);
      parts.push(`${file}:${ino}:${size}:${mtimeMs}`);
    }
    return parts.join('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
