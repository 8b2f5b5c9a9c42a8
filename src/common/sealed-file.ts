/**
 * Defines the format of state files: a line with form and checksum before the text. In: a text and the name of its
 * form. Out: the file's content; and back, or `DamagedFile`. A file that was truncated, overwritten or written by
 * another version is never read.
 */

import { hash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { codeOf } from './reason.ts';

/** Thrown if a file does not contain what was written under its name. The message names the file and no content. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
  readonly file: string;

  constructor(file: string, why: string) {
    super(`${file} ${why}`);
    this.file = file;
  }
}

/** Returns the content of the file. `form`: a name and a version, without blanks, such as `export-job/1`. */
export function sealed(form: string, body: string): string {
  return `${form} ${sha256(body)}\n${body}`;
}

/** Returns the text that was sealed under this form; undefined if there is no file. Throws DamagedFile. */
export function readSealed(file: string, form: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code === undefined) throw error;
    throw new DamagedFile(file, `cannot be read (${code})`);
  }
  const end = text.indexOf('\n');
  const [found = '', sum = ''] = text.slice(0, Math.max(0, end)).split(' ', 2);
  const body = text.slice(end + 1);
  if (found !== form) throw new DamagedFile(file, `is damaged, or of another version: expected ${form}`);
  if (sha256(body) !== sum) throw new DamagedFile(file, 'is damaged: its checksum is wrong');
  return body;
}

/** Suffixes of SQLite's files beside a database. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

/**
 * Renames a file, and SQLite's files beside it, so that it is no longer read but can be examined. Returns the new name;
 * undefined if renaming fails.
 */
export function setAside(file: string): string | undefined {
  const aside = `${file}.damaged`;
  try {
    renameSync(file, aside);
    for (const end of BESIDE) if (existsSync(file + end)) renameSync(file + end, aside + end);
    return aside;
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined;
    throw error;
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * Returns the result of `read`. If `read` reports damage, sets the file aside, announces that, and returns undefined,
 * as for a missing file. Throws other errors of `read`, and the error of a file that cannot be set aside.
 */
export function readOrSetAside<T>(
  file: string,
  read: () => T | undefined,
  isDamage: (error: unknown) => boolean,
  announce: (file: string, aside: string) => void,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isDamage(error) && codeOf(error) !== 'EISDIR') throw error;
    const aside = setAside(file);
    if (aside === undefined) throw error;
    announce(file, aside);
    return undefined;
  }
}
