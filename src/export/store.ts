/**
 * Stores the folder of a job. File names come from the job's own records and never from a request. State is replaced by
 * rename after it has reached the disk, so that a reader sees the old or the new state.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../common/make-folder.ts';
import { DamagedFile, readSealed, sealed, setAside } from '../common/sealed-file.ts';
import { decodeBytes, encodeBytes } from '../search/cursor.ts';
import { type JobRecord, NEW_PART, type PartState } from './job.ts';

/** Raise it when the record of a job, or the state of a part, changes its meaning. */
const JOB_FORM = 'export-job/1';
const PART_FORM = 'export-part/1';

/** 128 random bits in hexadecimal. */
export const JOB_ID = /^[0-9a-f]{32}$/;

export const outputFile = (folder: string, part: number, file: number): string =>
  join(folder, `part-${part}-${file}.ndjson`);
export const collectedFile = (folder: string, part: number): string => join(folder, `part-${part}.references`);
export const wantedFile = (folder: string, part: number, round: number): string =>
  join(folder, `part-${part}-${round}.wanted`);
export const membersFile = (folder: string): string => join(folder, 'members');
export const errorFile = (folder: string): string => join(folder, 'error.ndjson');

const jobFile = (folder: string): string => join(folder, 'job.json');
const stateFile = (folder: string, part: number): string => join(folder, `part-${part}.json`);

/** Writes a whole file or nothing. `durable`: returns only when the file would survive a power cut. */
export function replaceFile(file: string, text: string, durable = true): void {
  const unfinished = `${file}.new`;
  const descriptor = openSync(unfinished, 'w', 0o600);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(descriptor, bytes, at);
    if (durable) fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, file);
  if (durable) syncFolder(join(file, '..'));
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function writeJob(folder: string, job: JobRecord): void {
  makeFolder(folder, 0o700);
  replaceFile(jobFile(folder), sealed(JOB_FORM, JSON.stringify(job)));
}

/** Removes the record: the folder is no longer a job's. */
export function removeJob(folder: string): void {
  rmSync(jobFile(folder), { force: true });
}

/** A job whose record cannot be read; its caller is unknown. */
export interface LostJob {
  readonly id: string;
  readonly problem: DamagedFile;
  /** Milliseconds since the epoch at which it was found to be lost. */
  readonly since: number;
}

export interface FoundJobs {
  readonly jobs: readonly JobRecord[];
  readonly lost: readonly LostJob[];
}

/**
 * Reads every job below `root`. Removes folders of jobs that were never written. If a record is damaged, sets it aside
 * and removes the other files, because nobody knows who may read them.
 */
export function readJobs(root: string): FoundJobs {
  const jobs: JobRecord[] = [];
  const lost: LostJob[] = [];
  const names = existsSync(root) ? readdirSync(root).filter(name => JOB_ID.test(name)) : [];
  for (const id of names) {
    const folder = join(root, id);
    try {
      const record = readSealed(jobFile(folder), JOB_FORM);
      if (record !== undefined) jobs.push(JSON.parse(record) as JobRecord);
      else if (existsSync(`${jobFile(folder)}${DAMAGED}`)) lost.push(lostBefore(id, `${jobFile(folder)}${DAMAGED}`));
      else removeFolder(folder);
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      loseFiles(folder);
      lost.push({ id, problem: error, since: Date.now() });
    }
  }
  return { jobs, lost };
}

const DAMAGED = '.damaged';

function lostBefore(id: string, file: string): LostJob {
  const since = statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return { id, problem: new DamagedFile(file, 'was damaged'), since };
}

function loseFiles(folder: string): void {
  setAside(jobFile(folder));
  for (const name of readdirSync(folder))
    if (!name.startsWith('job.json')) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Writes the state of a part. `durable` waits for the disk, which is needed only against power cuts. */
export function writePart(folder: string, part: number, state: PartState, durable = true): void {
  replaceFile(stateFile(folder, part), sealed(PART_FORM, JSON.stringify(state, encodeBytes)), durable);
}

/** Reads the state of a part. Throws DamagedFile. */
export function readPart(folder: string, part: number): PartState {
  const text = readSealed(stateFile(folder, part), PART_FORM);
  if (text === undefined) return NEW_PART;
  const stored: Omit<PartState, 'cursor' | 'total'> & Partial<PartState> = JSON.parse(text, decodeBytes);
  return { cursor: undefined, total: undefined, ...stored };
}

/** Removes all output files of a part, also those that its state does not mention yet. */
export function removeFiles(folder: string, part: number): void {
  for (let file = 0; existsSync(outputFile(folder, part, file)); file++) rmSync(outputFile(folder, part, file));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the lines of a small file; none if it does not exist. */
export function readLines(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '');
}
