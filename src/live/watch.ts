/**
 * Watches the files of a pack. In: its folder, and what to do when they have changed. Out: calls, one at a time, once two
 * looks in a row saw the same files. It looks at names, times and sizes instead of asking the kernel for events, which do
 * not come from network drives and bind mounts, nor after the folder was replaced as a whole.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface WatchOptions {
  /** Milliseconds between two looks. */
  readonly every: number;
  /** `later`: it could not be done now, and is called again at the next look. */
  readonly changed: () => Promise<'done' | 'later'>;
}

export interface Watch {
  /** Resolves when nothing more will be called. */
  stop(): Promise<void>;
}

/** The first call comes without a change: what was read before may be older than the first look. */
export function watchFolder(folder: string, { every, changed }: WatchOptions): Watch {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let known: string | undefined;
  let before: string | undefined;

  const look = async (): Promise<void> => {
    const now = await signatureOf(folder);
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

/** Changes with every file that is written, added or removed. A folder that cannot be read is as one without files. */
async function signatureOf(folder: string): Promise<string> {
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
