/**
 * Reads and writes a JSON file that only its owner can read: accounts, clients, keys. In: a path. Out: its content,
 * read again after a change. A write replaces the whole file, so that readers see the old or the new content.
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
import { codeOf } from '../common/reason.ts';

/**
 * Reads the content of a file; undefined if there is no file. Throws the file system's error. `notJson`: the error for
 * a text that is not JSON, default SyntaxError.
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

/** Makes an empty file and its folder if there is none; makes an existing one private. */
export function touchPrivate(file: string): void {
  makeFolder(dirname(file), 0o700);
  try {
    make(file, '', statSync(dirname(file)));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    // A symbolic link may point to a file that does not exist yet.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  }
}

/** Replaces the file. Throws the file system's error. */
export function writePrivate(file: string, content: object): void {
  makeFolder(dirname(file), 0o700);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    // The owner of the file, or of the folder that will hold it.
    const owner = statSync(file, { throwIfNoEntry: false }) ?? statSync(dirname(file));
    make(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, owner);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Makes a new file. Throws the file system's error, such as EEXIST. */
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
 * Gives files that the superuser writes to the user of the server, who has to read them. Uses the descriptor, because
 * that user may replace the name by a link to another file.
 */
function give(descriptor: number, { uid, gid }: Owner): void {
  if (process.geteuid?.() !== 0) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // The superuser of a container, or of a network file system, may not change owners: then the file keeps its owner.
    if (!NOT_TO_GIVE.has(codeOf(error) ?? '')) throw error;
  }
}

const NOT_TO_GIVE: ReadonlySet<string> = new Set(['EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS']);

/** Returns a function that calls `read` again whenever the file was replaced. */
export function fresh<T>(file: string, read: () => T): () => T {
  let known: { readonly stamp: string; readonly value: T } | undefined;
  return () => {
    const stamp = stampOf(file);
    if (known?.stamp !== stamp) known = { stamp, value: read() };
    return known.value;
  };
}

/** Returns a text that changes whenever the file is replaced. */
export function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return 'none';
    throw error;
  }
}

/** True if there is no file; ENOTDIR means that a parent is not a folder. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '');
}
