/**
 * Watches the files of a pack and of the packs that it extends. In: its folder, and a callback. Out: calls, one at a
 * time, after two checks in a row saw the same changed files. It polls names, times and sizes, because there are no
 * kernel events from network drives and bind mounts, nor after a folder was replaced.
 */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../common/reason.ts';
import { MAX_DEPTH } from '../mapping/load/read/files.ts';
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
    if (codeOf(error) !== undefined) return { folders: [folder], isWhole: false };
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
  const parts: string[] = [];
  for (const file of (await filesIn(folder)).sort()) {
    const found = await orUndefined(stat(file));
    // The locks of some editors are links that lead nowhere.
    parts.push(found === undefined ? `${file}:` : `${file}:${found.ino}:${found.size}:${found.mtimeMs}`);
  }
  return parts.join('\n');
}

/** Returns the paths of all files that a pack may be read from; hidden ones are not. */
async function filesIn(folder: string, depth = 0): Promise<string[]> {
  const entries = (await orUndefined(readdir(folder, { withFileTypes: true }))) ?? [];
  const seen = entries.filter(({ name }) => !name.startsWith('.'));
  const files = seen.map(async entry => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return depth < MAX_DEPTH ? filesIn(path, depth + 1) : [];
  });
  return (await Promise.all(files)).flat();
}

/** Resolves to undefined for an error of the file system. */
async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined;
    throw error;
  }
}
