/**
 * Where tests put their temporary folders: in memory, where the system has a file system in memory with room for all of
 * them. Hundreds of small databases are made by statements that else wait for the disk.
 */
import { existsSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** Bytes; the whole suite takes some hundred megabytes at a time. */
const ROOM = 4e9;

/** Sets TMPDIR, which workers take over and so do the programs that tests start; one that is set stays as it is. */
export function putTemporaryFoldersInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(FOLDER)) return;
  const { bavail, bsize } = statfsSync(FOLDER);
  if (bavail * bsize >= ROOM) process.env['TMPDIR'] = FOLDER;
}
