/**
 * Keeps proofs of forms between starts, because reading 28 million rows takes 40 s. In: a folder of our own, and the
 * stamp of a database file. Out: the facts found about each column when the file had exactly this stamp. A file of
 * proofs has a version and a checksum, and contains names of columns, forms and counts only; a damaged one is set aside
 * and reported.
 */
import { hash, randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  existsSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../common/make-folder.ts';
import { DamagedFile, readOrSetAside, readSealed, sealed } from '../../common/sealed-file.ts';
import type { ColumnInfo } from '../catalog.ts';
import type { ProofOptions } from '../engine.ts';

/** The facts found about a column: its declared type, and the form of all its rows. */
export type Proof = Pick<ColumnInfo, 'form' | 'written'> & { readonly declared: string };

export interface Proofs {
  /**
   * Returns the proofs by `columnKey`; undefined if there are none for the file's present state. Never throws for
   * contents of the disk.
   */
  read(stamp: string): ReadonlyMap<string, Proof> | undefined;
  /** Replaces the proofs of this database. Never throws. */
  write(stamp: string, found: ReadonlyMap<string, Proof>): void;
}

/** The format of the file, for `sealed`. */
const FORM = 'proofs/1';
/** Increase it when a form gets another name or meaning. */
const VERSION = 5;
/** Limit of databases with stored proofs. */
const MOST = 20;
const FILE = /^[0-9a-f]{32}\.json$/;

interface Kept {
  readonly version: string;
  readonly stamp: string;
  readonly columns: readonly (readonly [string, Proof])[];
}

/** Opens the proofs of the database at a path. */
export function openProofs(path: string, { folder, announce, software }: ProofOptions): Proofs {
  const version = `${software}/${VERSION}`;
  const file = join(folder, `${hash('sha256', path).slice(0, 32)}.json`);
  return {
    read(stamp) {
      const damaged = (_: string, aside: string): void =>
        announce(`${file} is damaged and was set aside as ${aside}; the rows are looked at again.`);
      try {
        if (!existsSync(file)) return undefined;
        const body = readOrSetAside(file, () => readSealed(file, FORM), isDamage, damaged);
        const kept: Kept | undefined = body === undefined ? undefined : JSON.parse(body);
        return kept?.version === version && kept.stamp === stamp ? new Map(kept.columns) : undefined;
      } catch (error) {
        if (!isDamage(error)) throw error;
        announce(`${error.message}: all rows are looked at.`);
        return undefined;
      }
    },
    write(stamp, found) {
      const unfinished = `${file}.${randomUUID()}`;
      try {
        makeFolder(folder, 0o700);
        const kept: Kept = { version, stamp, columns: [...found] };
        writeFileSync(unfinished, sealed(FORM, JSON.stringify(kept)), { mode: 0o600, flag: 'wx' });
        renameSync(unfinished, file);
        forgetOldest(folder);
      } catch (error) {
        announce(`${file} cannot be written (${codeOf(error)}): the next start looks at all rows.`);
      } finally {
        if (existsSync(unfinished)) rmSync(unfinished);
      }
    },
  };
}

/** Returns the system's code of an error; throws any other error again. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
}

function isDamage(error: unknown): error is DamagedFile {
  return error instanceof DamagedFile;
}

function forgetOldest(folder: string): void {
  const files = readdirSync(folder)
    .filter(name => FILE.test(name))
    .map(name => join(folder, name));
  if (files.length <= MOST) return;
  const changed = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const old of files.toSorted((a, b) => changed(b) - changed(a)).slice(MOST)) rmSync(old, { force: true });
}

/** Milliseconds: file systems count time in steps, and two writes within one step leave the same time. */
const STEP = 2000;

export interface FileStamp {
  readonly text: string;
  /** True if no later write can have left the same text. */
  readonly isSettled: boolean;
}

/**
 * Detects whether a SQLite file has changed. In: its path. Out: a text that differs after each commit, in the file or
 * in its write-ahead log, and for another file at the path; and whether the file is old enough to rely on it. Uses only
 * `stat`, because closing a file descriptor of our own would drop SQLite's locks. Undefined if there is no such file,
 * as for a database in memory.
 * https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 */
export function stampOf(path: string, now: number = Date.now()): FileStamp | undefined {
  const found = ['', '-wal', '-journal'].map(end => statSync(path + end, { bigint: true, throwIfNoEntry: false }));
  const [file] = found;
  if (file === undefined) return undefined;
  const latest = Math.max(
    ...found.flatMap(one => (one === undefined ? [] : [Number(one.mtimeMs), Number(one.ctimeMs)])),
  );
  return { text: [realpathSync(path), ...found.map(written)].join('|'), isSettled: now - latest > STEP };
}

/**
 * Returns the size and times of a file; an empty log or journal counts as none. The ctime cannot be set back, unlike
 * the mtime.
 */
function written(found: BigIntStats | undefined): string {
  if (found === undefined || found.size === 0n) return '';
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':');
}
