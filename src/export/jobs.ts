/**
 * The export jobs of a server: started, watched, paused, resumed, deleted, expired; and continued after a restart. In:
 * requests that were understood. Out: views of jobs. Jobs fall into parts, which wait in one queue for a thread.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config.ts';
import { describeError, type Log } from '../log.ts';
import type { PackFiles } from '../mapping/load/files.ts';
import { FhirError } from '../outcome.ts';
import { folderLock } from './folder-lock.ts';
import { bytesOf, type JobRecord, type JobStatus } from './job.ts';
import { fileOf, type LiveJob, liveJob, statesOf, stopFlag, viewOf } from './live-job.ts';
import { errorLines, errorsOf, type JobView, type OutputFile, outputFiles } from './manifest.ts';
import { isDiskFull } from './output.ts';
import type { PartSettings } from './part-task.ts';
import type { UnderstoodRequest } from './request.ts';
import { runParts } from './run-job.ts';
import { errorFile, readJobs, removeFolder, replaceFile, writeJob } from './store.ts';
import { TaskError, type Threads } from './threads.ts';

export interface JobLimits {
  /** Jobs that are not finished: of all clients, and of one. */
  readonly jobs: number;
  readonly jobsPerClient: number;
  /** Bytes of all files. */
  readonly bytes: number;
  /** Milliseconds that the files of a finished job are kept. */
  readonly expiry: number;
}

export interface JobsOptions {
  /** Folder of the jobs; made with the first. */
  readonly root: string;
  /** The mappings that are served now. A job keeps those that it began with. */
  readonly pack: () => PackFiles;
  readonly threads: Threads;
  readonly limits: JobLimits;
  readonly settings: PartSettings;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface Download {
  readonly file: OutputFile;
  readonly path: string;
  /** To be called once the file is no longer read: until then it is not removed. */
  readonly release: () => void;
}

export interface JobsLoad {
  readonly jobs: Readonly<Record<JobStatus, number>>;
  readonly threads: ReturnType<Threads['load']>;
}

export interface Jobs {
  /** Throws FhirError `throttled`. */
  start(understood: UnderstoodRequest, origin: Pick<JobRecord, 'caller' | 'base' | 'url'>): JobView;
  /** The caller's own job; undefined: there is none of that id (any more). */
  view(caller: string, id: string): JobView | undefined;
  list(caller: string): readonly JobView[];
  pause(caller: string, id: string): Promise<JobView | undefined>;
  resume(caller: string, id: string): JobView | undefined;
  /** False: there is none. Resolves once the files are gone, or are as good as gone because they are being read. */
  remove(caller: string, id: string): Promise<boolean>;
  /** `name` of an OutputFile of a complete job. */
  download(caller: string, id: string, name: string): Download | undefined;
  /** How many jobs there are of each status, and how busy the threads are. */
  load(): JobsLoad;
  /** Resolves when the job is no longer running. */
  settled(id: string): Promise<void>;
  /** Stops at the next batch; jobs go on when they are opened again. */
  close(): Promise<void>;
}

const SWEEP_MILLISECONDS = 60_000;
const LONGEST_TIMER = 2 ** 31 - 1;

/** Throws ConfigError where another process has the folder. */
export function openJobs(options: JobsOptions): Jobs {
  const { root, pack, threads, limits, settings, log, clock = Date.now } = options;
  const jobs = new Map<string, LiveJob>();
  const used = new BigInt64Array(new SharedArrayBuffer(8));
  const quota = { used, limit: limits.bytes };
  let closed = false;
  const lock = folderLock(root);
  if (existsSync(root) && !lock.take())
    throw new ConfigError([`another process exports into ${root}: a second one needs a folder (DATA_DIR) of its own`]);

  const own = (caller: string, id: string): LiveJob | undefined => {
    sweep();
    const job = jobs.get(id);
    return job?.record.caller === caller && !job.removed ? job : undefined;
  };

  const update = (job: LiveJob, change: Partial<JobRecord>): void => {
    job.record = { ...job.record, ...change };
    writeJob(job.folder, job.record);
  };

  const addJob = (record: JobRecord): LiveJob => {
    const job = liveJob(record, root, pack());
    for (const state of statesOf(job)) Atomics.add(used, 0, BigInt(bytesOf(state)));
    jobs.set(record.id, job);
    return job;
  };

  const go = (job: LiveJob): void => {
    job.stop = stopFlag();
    job.running = run(job).catch((error: unknown) => fail(job, error));
  };

  const run = async (job: LiveJob): Promise<void> => {
    if (!(await runParts(job, { threads, settings, quota, log }))) return;
    replaceFile(errorFile(job.folder), errorLines(errorsOf(job.record, statesOf(job))));
    update(job, { status: 'complete', finished: clock() });
    job.expires = performance.now() + limits.expiry;
    log.info('export complete', { job: job.record.id, files: outputFiles(viewOf(job)).length });
  };

  const fail = (job: LiveJob, error: unknown, why?: string): void => {
    if (closed || job.removed) return;
    Atomics.store(job.stop, 0, 1);
    const full = error instanceof TaskError ? error.reason === 'full' : isDiskFull(error);
    const reason = full ? ': there is no space left for its files' : (why ?? ' of an unexpected error');
    const failure = `The export failed${reason}; its files were removed`;
    log.error('export failed', {
      job: job.record.id,
      full,
      ...(error instanceof TaskError ? { kind: error.message, at: error.at } : describeError(error)),
    });
    discard(job);
    job.record = { ...job.record, status: 'failed', finished: clock(), failure };
    job.expires = performance.now() + limits.expiry;
    job.progress.clear();
    try {
      writeJob(job.folder, job.record);
    } catch (again) {
      // A disk without room even for this: the job is gone after a restart, and failed until then.
      log.error('the state of a failed export could not be kept', { job: job.record.id, full: isDiskFull(again) });
    }
  };

  const discard = (job: LiveJob): void => {
    const bytes = statesOf(job).reduce((sum, state) => sum + bytesOf(state), 0);
    Atomics.sub(used, 0, BigInt(bytes));
    removeFolder(job.folder);
  };

  const forget = (job: LiveJob): void => {
    job.removed = true;
    if (job.readers > 0) return;
    discard(job);
    jobs.delete(job.record.id);
  };

  const sweep = (): void => {
    const now = performance.now();
    for (const job of jobs.values())
      if (job.expires !== undefined && job.expires <= now && job.readers === 0) forget(job);
  };

  for (const record of readJobs(root)) {
    const job = addJob(record);
    if (record.status === 'complete' || record.status === 'failed') {
      const left = Math.max(0, Math.min(limits.expiry, (record.finished ?? 0) + limits.expiry - clock()));
      job.expires = performance.now() + left;
    } else if (record.version !== pack().version) {
      fail(job, new Error('the mappings have changed'), ': the mappings have changed since it began');
    } else if (record.status === 'running') {
      go(job);
    }
  }
  const sweeper = setInterval(sweep, Math.min(SWEEP_MILLISECONDS, limits.expiry, LONGEST_TIMER)).unref();

  const unfinished = (): readonly LiveJob[] =>
    [...jobs.values()].filter(({ record }) => record.status === 'running' || record.status === 'paused');

  return {
    start({ request, stages, remarks }, { caller, base, url }) {
      sweep();
      const all = unfinished();
      const mine = all.filter(({ record }) => record.caller === caller);
      if (all.length >= limits.jobs || mine.length >= limits.jobsPerClient) {
        throw new FhirError('throttled', 'Too many exports are not finished yet; wait for one or delete it', {
          retryAfter: 60,
        });
      }
      if (!lock.take()) throw new FhirError('conflict', 'Another process exports into the folder of this one');
      const record: JobRecord = {
        id: randomBytes(16).toString('hex'),
        caller,
        base,
        url,
        request,
        stages,
        remarks,
        version: pack().version,
        transactionTime: clock(),
        status: 'running',
      };
      writeJob(join(root, record.id), record);
      const job = addJob(record);
      go(job);
      return viewOf(job);
    },
    view(caller, id) {
      const job = own(caller, id);
      return job && viewOf(job);
    },
    list(caller) {
      sweep();
      return [...jobs.values()].filter(job => job.record.caller === caller && !job.removed).map(viewOf);
    },
    async pause(caller, id) {
      const job = own(caller, id);
      if (job?.record.status === 'running') {
        Atomics.store(job.stop, 0, 1);
        update(job, { status: 'paused' });
        await job.running;
      }
      return job && viewOf(job);
    },
    resume(caller, id) {
      const job = own(caller, id);
      if (job?.record.status === 'paused') {
        update(job, { status: 'running' });
        go(job);
      }
      return job && viewOf(job);
    },
    async remove(caller, id) {
      const job = own(caller, id);
      if (!job) return false;
      job.removed = true;
      Atomics.store(job.stop, 0, 1);
      await job.running;
      forget(job);
      return true;
    },
    download(caller, id, name) {
      const job = own(caller, id);
      if (job?.record.status !== 'complete') return undefined;
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
    load() {
      const counts: Record<JobStatus, number> = { running: 0, paused: 0, complete: 0, failed: 0 };
      for (const { record } of jobs.values()) counts[record.status] += 1;
      return { jobs: counts, threads: threads.load() };
    },
    async settled(id) {
      await jobs.get(id)?.running;
    },
    async close() {
      closed = true;
      clearInterval(sweeper);
      for (const job of jobs.values()) Atomics.store(job.stop, 0, 1);
      await Promise.all([...jobs.values()].map(({ running }) => running));
      await threads.close();
      lock.release();
    },
  };
}
