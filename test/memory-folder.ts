/**
 * Puts the temporary folders of tests into memory, if the system has a file system in memory with enough room. The
 * tests make hundreds of small databases with statements that would otherwise wait for the disk.
 */
import { existsSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** Bytes; the whole suite uses some hundred megabytes at a time. */
const ROOM = 4e9;

/** Sets TMPDIR, which workers and the programs that tests start inherit; an existing value stays. */
export function putTemporaryFoldersInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(FOLDER)) return;
  const { bavail, bsize } = statfsSync(FOLDER);
  if (bavail * bsize >= ROOM) process.env['TMPDIR'] = FOLDER;
}
