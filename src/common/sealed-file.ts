/**
 * The form of state files: a line with form and checksum before the text. In: a text and the name of its form. Out:
 * the file's content; and back, or `DamagedFile`. A file that was truncated, overwritten or written by another version
 * is never read.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';

/** What a file holds is not what was written under its name. Its message names the file and no content. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
  readonly file: string;

  constructor(file: string, why: string) {
    super(`${file} ${why}`);
    this.file = file;
  }
}

/** `form`: a name and a version, without blanks, such as `export-job/1`. */
export function sealed(form: string, body: string): string {
  return `${form} ${sha256(body)}\n${body}`;
}

/** The text that was sealed under this form; undefined if there is no file. Throws DamagedFile. */
export function readSealed(file: string, form: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
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

/** Files of SQLite beside a database. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

/**
 * Renames a file, and what SQLite has beside it, to where nobody reads it, for a person to look at. Returns its name,
 * or undefined where even that is refused.
 */
export function setAside(file: string): string | undefined {
  const aside = `${file}.damaged`;
  try {
    renameSync(file, aside);
    for (const end of BESIDE) if (existsSync(file + end)) renameSync(file + end, aside + end);
    return aside;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * What `read` makes of a file. One that it calls damaged is set aside and announced, and counts as missing. Out:
 * undefined where there is no whole file. Throws what `read` throws otherwise, and where the file cannot be set aside.
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
    if (!isDamage(error) && !isFolder(error)) throw error;
    const aside = setAside(file);
    if (aside === undefined) throw error;
    announce(file, aside);
    return undefined;
  }
}

function isFolder(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EISDIR';
}
