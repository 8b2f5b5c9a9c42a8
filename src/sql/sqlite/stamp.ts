/**
 * Tells whether a SQLite file has changed. In: its path. Out: a text that differs after each commit, in the file or in
 * its write-ahead log, and for another file at the path; and whether it is old enough to be relied on. Only the file
 * system is asked: closing a descriptor of our own would drop SQLite's locks.
 * https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 */
import { type BigIntStats, realpathSync, statSync } from 'node:fs';

/** Milliseconds: file systems count time in steps, and two writes within one step leave the same time. */
const STEP = 2000;

export interface FileStamp {
  readonly text: string;
  /** No write since then can have left the same text. */
  readonly isSettled: boolean;
}

/** Undefined where there is no such file, as for a database in memory. */
export function stampOf(path: string, now: number = Date.now()): FileStamp | undefined {
  const found = ['', '-wal', '-journal'].map(end => statSync(path + end, { bigint: true, throwIfNoEntry: false }));
  const [file] = found;
  if (file === undefined) return undefined;
  const latest = Math.max(
    ...found.flatMap(one => (one === undefined ? [] : [Number(one.mtimeMs), Number(one.ctimeMs)])),
  );
  return { text: [realpathSync(path), ...found.map(written)].join('|'), isSettled: now - latest > STEP };
}

/** An empty log or journal is as good as none. The time of change cannot be set back, as that of modification can. */
function written(found: BigIntStats | undefined): string {
  if (found === undefined || found.size === 0n) return '';
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':');
}
