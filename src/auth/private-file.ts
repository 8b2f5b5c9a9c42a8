/**
 * A JSON file that only its owner can read: accounts, clients, keys. In: a path. Out: its content, read again after a
 * change. A write replaces the whole file, so that readers see the old or the new content.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../common/make-folder.ts';

/**
 * The content of a file; undefined if there is no file. Throws the file system's error. `notJson`: the error of a text
 * that is no JSON, default SyntaxError.
 */
export function readPrivate(file: string, notJson?: () => Error): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson?.() ?? error;
  }
}

/** Makes an empty file and its folder where there is none; one that is there becomes private. */
export function touchPrivate(file: string): void {
  makeFolder(dirname(file), 0o700);
  try {
    make(file, '', statSync(dirname(file)));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    // A link may lead to where there is none yet.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  }
}

/** Replaces the file. Throws the file system's error. */
export function writePrivate(file: string, content: object): void {
  makeFolder(dirname(file), 0o700);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    // Whoever has the file, or the folder in which it is to be.
    const owner = statSync(file, { throwIfNoEntry: false }) ?? statSync(dirname(file));
    make(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, owner);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Makes a file that is not there yet. Throws the file system's error, EEXIST above all. */
function make(file: string, content: string, owner: Owner): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    give(descriptor, owner);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The superuser manages accounts and clients, too: their files stay readable to the user of the server. By the
 * descriptor, for that user may put a link to another's file in the place of a name.
 */
function give(descriptor: number, { uid, gid }: Owner): void {
  if (process.geteuid?.() !== 0) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // The superuser of a container, or of a network's file system, is not everybody's: then the file stays its own.
    if (!(error instanceof Error && 'code' in error && NOT_TO_GIVE.has(String(error.code)))) throw error;
  }
}

const NOT_TO_GIVE: ReadonlySet<string> = new Set(['EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS']);

/** What `read` makes of a file, made again whenever the file was replaced. */
export function fresh<T>(file: string, read: () => T): () => T {
  let known: { readonly stamp: string; readonly value: T } | undefined;
  return () => {
    const stamp = stampOf(file);
    if (known?.stamp !== stamp) known = { stamp, value: read() };
    return known.value;
  };
}

/** Changes whenever the file is replaced. */
export function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return 'none';
    throw error;
  }
}

/** Below what is no folder there is no file either. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
