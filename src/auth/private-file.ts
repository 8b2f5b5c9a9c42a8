/**
 * A JSON file that only its owner can read: accounts, clients, keys. In: a path. Out: its content, read again after a
 * change. A write replaces the whole file, so that readers see the old or the new content.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  makeFolder(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Replaces the file. Throws the file system's error. */
export function writePrivate(file: string, content: object): void {
  makeFolder(dirname(file));
  const unfinished = `${file}.${randomUUID()}`;
  try {
    writeFileSync(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

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
