/**
 * Holds all export jobs, each in a folder below one root, and counts the disk space of their files.
 *
 * In: records of jobs. Out: jobs by id and caller. The files of a finished job are removed when they expire, but never
 * while somebody reads them.
 */
import type { PackFiles } from '../mapping/load/read/files.ts';
import { bytesOf, type JobRecord } from './job.ts';
import { fileOf, type LiveJob, liveJob, statesOf } from './live-job.ts';
import type { Download } from './manifest.ts';
import type { Quota } from './output.ts';
import { removeFolder, removeJob, writeJob } from './store.ts';

export interface JobRegistryOptions {
  /** Folder of the jobs; made with the first. */
  readonly root: string;
  /** Maximum bytes of all files together. */
  readonly bytes: number;
  /** Milliseconds that the files of a finished job are kept. */
  readonly expiry: number;
  /** Called if files cannot be removed, as in a read-only folder; the next sweep tries again. */
  readonly stuck: (job: LiveJob, error: unknown) => void;
}

export interface JobRegistry {
  /** Disk space that all jobs may take, and that they take now. */
  readonly quota: Quota;
  readonly all: () => readonly LiveJob[];
  /** Finds a job of any caller. */
  readonly find: (id: string) => LiveJob | undefined;
  /** Lists the caller's own jobs that are not removed. */
  readonly own: (caller: string) => readonly LiveJob[];
  /** Adds a job whose record is on disk already. */
  readonly add: (record: JobRecord, files: PackFiles) => LiveJob;
  /** Changes the record on disk, then in memory; throws if the disk is full, and has changed nothing then. */
  readonly save: (job: LiveJob, change: Partial<JobRecord>) => void;
  /** Changes the record in memory, then on disk; throws if the disk is full. */
  readonly update: (job: LiveJob, change: Partial<JobRecord>) => void;
  /** Removes the files after so many milliseconds, even if the system clock is set. */
  readonly expire: (job: LiveJob, after: number) => void;
  /** Opens a file for reading. `name` of an OutputFile. */
  readonly open: (job: LiveJob, name: string) => Download | undefined;
  /** Removes the files; the job stays. False: they cannot be removed now. */
  readonly discard: (job: LiveJob) => boolean;
  /**
   * Removes the job from its caller's list, and from those that a restart finds. Throws if the folder cannot be
   * written; the job stays on both then.
   */
  readonly unlist: (job: LiveJob) => void;
  /** Removes the job: now, or when nobody reads its files any more and the folder can be written. Nobody finds it. */
  readonly forget: (job: LiveJob) => void;
  /** Stops removing expired jobs. */
  readonly close: () => void;
}

const SWEEP_MILLISECONDS = 60_000;
const LONGEST_TIMER = 2 ** 31 - 1;

export function openJobRegistry({ root, bytes, expiry, stuck }: JobRegistryOptions): JobRegistry {
  const jobs = new Map<string, LiveJob>();
  const used = new BigInt64Array(new SharedArrayBuffer(8));

  const empty = (job: LiveJob): void => {
    const taken = statesOf(job).reduce((sum, state) => sum + bytesOf(state), 0);
    removeFolder(job.folder);
    Atomics.sub(used, 0, BigInt(taken));
  };

  /** Nothing is thrown: timers and the ends of downloads call this. */
  const tried = (job: LiveJob, remove: () => void): boolean => {
    try {
      remove();
      return true;
    } catch (error) {
      stuck(job, error);
      return false;
    }
  };

  const unlist = (job: LiveJob): void => {
    removeJob(job.folder);
    job.removed = true;
  };

  const forget = (job: LiveJob): void => {
    job.removed = true;
    const isGone = tried(job, () => {
      unlist(job);
      if (job.readers > 0) return;
      empty(job);
      jobs.delete(job.record.id);
    });
    if (!isGone) job.expires = performance.now() + SWEEP_MILLISECONDS;
  };

  const sweep = (): void => {
    const now = performance.now();
    for (const job of jobs.values())
      if (job.expires !== undefined && job.expires <= now && job.readers === 0) forget(job);
  };
  const sweeper = setInterval(sweep, Math.min(SWEEP_MILLISECONDS, expiry, LONGEST_TIMER)).unref();

  return {
    quota: { used, limit: bytes },
    all() {
      sweep();
      return [...jobs.values()];
    },
    find: id => jobs.get(id),
    own(caller) {
      sweep();
      return [...jobs.values()].filter(job => job.record.caller === caller && !job.removed);
    },
    add(record, files) {
      const job = liveJob(record, root, files);
      for (const state of statesOf(job)) Atomics.add(used, 0, BigInt(bytesOf(state)));
      jobs.set(record.id, job);
      return job;
    },
    save(job, change) {
      const record = { ...job.record, ...change };
      if (!job.removed) writeJob(job.folder, record);
      job.record = record;
    },
    update(job, change) {
      job.record = { ...job.record, ...change };
      if (!job.removed) writeJob(job.folder, job.record);
    },
    expire(job, after) {
      job.expires = performance.now() + after;
    },
    open(job, name) {
      const found = fileOf(job, name);
      if (!found) return undefined;
      job.readers += 1;
      let released = false;
      return {
        ...found,
        release() {
          if (released) return;
          released = true;
          job.readers -= 1;
          if (job.removed && job.readers === 0) forget(job);
        },
      };
    },
    discard: job => tried(job, () => empty(job)),
    unlist,
    forget,
    close: () => clearInterval(sweeper),
  };
}
