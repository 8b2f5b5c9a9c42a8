/**
 * Runs export jobs: start, pause, resume, delete, expire; continues them after a restart. In: parsed requests. Out:
 * views of jobs. The parts of all jobs wait for a thread in one queue.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inTime } from '../common/in-time.ts';
import { reasonOf } from '../common/reason.ts';
import { ConfigError } from '../config/config.ts';
import { describeError, type Log } from '../log.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import { FhirError, type Issue } from '../outcome.ts';
import { folderLock } from './folder-lock.ts';
import type { JobRecord, JobStatus } from './job.ts';
import { openJobRegistry } from './job-registry.ts';
import { type LiveJob, statesOf, stopFlag, viewOf } from './live-job.ts';
import { type Download, errorLines, errorsOf, type JobView, outputFiles } from './manifest.ts';
import { isDiskFull } from './output.ts';
import type { PartSettings } from './part-task.ts';
import type { UnderstoodRequest } from './request.ts';
import { runParts } from './run-job.ts';
import { errorFile, readJobs, removeFolder, replaceFile, writeJob } from './store.ts';
import { TaskError, type Threads } from './threads.ts';

export interface JobLimits {
  /** Maximum number of unfinished jobs: of all clients, and of one. */
  readonly jobs: number;
  readonly jobsPerClient: number;
  /** Maximum bytes of all files. */
  readonly bytes: number;
  /** Milliseconds that the files of a finished job are kept. */
  readonly expiry: number;
}

export interface JobsOptions {
  /** Folder of the jobs; made with the first. */
  readonly root: string;
  /** Message of the error if another process has that folder. */
  readonly inUse?: string;
  /** The mappings that are served now. A job keeps those with which it began. */
  readonly pack: () => PackFiles;
  readonly threads: Threads;
  readonly limits: JobLimits;
  readonly settings: PartSettings;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds to wait for running statements when a job or all of them are to stop. */
  readonly timeLimit?: number;
}

/** The request's origin, and what may be read; the access names the caller. */
export type JobOrigin = Pick<JobRecord, 'access' | 'base' | 'url'>;

export interface JobsLoad {
  readonly jobs: Readonly<Record<JobStatus, number>>;
  readonly threads: ReturnType<Threads['load']>;
}

export interface Jobs {
  /** Starts a job. Throws FhirError `too-many-requests`, `export-conflict` or `export-folder`. */
  start(understood: UnderstoodRequest, origin: JobOrigin): JobView;
  /** Returns the caller's own job; undefined: there is none with this id (any more). */
  view(caller: string, id: string): JobView | undefined;
  list(caller: string): readonly JobView[];
  /** Pauses the job; its threads stop after the current batch. */
  pause(caller: string, id: string): Promise<JobView | undefined>;
  resume(caller: string, id: string): JobView | undefined;
  /**
   * Removes the job; false: there is none. Its files are removed at once, or when nobody reads or writes them any more;
   * at the latest after a restart.
   */
  remove(caller: string, id: string): Promise<boolean>;
  /** Opens a file of a complete job. `name` of an OutputFile. */
  download(caller: string, id: string, name: string): Download | undefined;
  /** Counts the jobs of each status, and the threads in use. */
  load(): JobsLoad;
  /** True if there was such a job, of any caller, whose record is damaged: only its id is known. */
  isLost(id: string): boolean;
  /** Resolves when the job is no longer running. */
  settled(id: string): Promise<void>;
  /**
   * Stops the jobs after their current batch or, if that takes too long, immediately; they continue when they are
   * opened again.
   */
  close(): Promise<void>;
}

const TIME_LIMIT = 2000;

/** Opens the jobs. Throws ConfigError if another process has the folder. */
export function openJobs(options: JobsOptions): Jobs {
  const { root, pack, threads, limits, settings, log, clock = Date.now, timeLimit = TIME_LIMIT } = options;
  const waitFor = (work: Promise<unknown>): Promise<unknown> => inTime(work, timeLimit, () => undefined);
  const { inUse = `${root} is in use by another process` } = options;
  let closed = false;
  const lock = folderLock(root);
  if (existsSync(root) && !lock.take()) throw new ConfigError([inUse]);
  const { bytes, expiry } = limits;
  const stuck = ({ record }: { readonly record: Pick<JobRecord, 'id'> }, error: unknown): void =>
    log.error('files of an export could not be removed', { job: record.id, ...reasonOf(error) });
  const jobs = openJobRegistry({ root, bytes, expiry, stuck });

  const own = (caller: string, id: string): LiveJob | undefined =>
    jobs.own(caller).find(({ record }) => record.id === id);

  /** Starts a run after the previous one, which may still be finishing the batch in which it was stopped. */
  const go = (job: LiveJob): void => {
    job.running = job.running
      .then(async () => {
        if (closed || job.removed || job.record.status !== 'running') return;
        job.stop = stopFlag();
        await run(job);
      })
      .catch((error: unknown) => fail(job, error));
  };

  /** Adds a remark only once, even if a restart finds the same again. */
  const remark = (job: LiveJob, issue: Issue): void => {
    const { remarks } = job.record;
    if (remarks.every(({ diagnostics }) => diagnostics !== issue.diagnostics))
      jobs.update(job, { remarks: [...remarks, issue] });
  };

  const run = async (job: LiveJob): Promise<void> => {
    if (!(await runParts(job, { threads, settings, quota: jobs.quota, log, remark }))) return;
    replaceFile(errorFile(job.folder), errorLines(errorsOf(job.record, statesOf(job))));
    jobs.update(job, { status: 'complete', finished: clock() });
    jobs.expire(job, limits.expiry);
    log.info('export complete', { job: job.record.id, files: outputFiles(viewOf(job)).length });
  };

  const fail = (job: LiveJob, error: unknown, why?: string): void => {
    if (closed || job.removed) return;
    Atomics.store(job.stop, 0, 1);
    const full = error instanceof TaskError ? error.reason === 'full' : isDiskFull(error);
    const reason = full ? ': there is no space left for its files' : (why ?? ' of an unexpected error');
    log.error('export failed', {
      job: job.record.id,
      full,
      ...(error instanceof TaskError ? { kind: error.message, at: error.at } : describeError(error)),
    });
    const isEmpty = jobs.discard(job);
    const failure = `The export failed${reason}; its files ${isEmpty ? 'were' : 'will be'} removed`;
    jobs.expire(job, limits.expiry);
    if (isEmpty) job.progress.clear();
    try {
      jobs.update(job, { status: 'failed', finished: clock(), failure });
    } catch (again) {
      // The disk has no room even for this: the job counts as failed until a restart, which no longer finds it.
      log.error('the state of a failed export could not be saved', { job: job.record.id, full: isDiskFull(again) });
    }
  };

  const found = readJobs(root);
  const lost = new Map(found.lost.map(({ id, since }) => [id, since + limits.expiry]));
  for (const { problem } of found.lost)
    log.error('an export was lost', { file: problem.file, problem: problem.message });
  for (const record of found.jobs) {
    const job = jobs.add(record, pack());
    if (job.damaged !== undefined && record.status !== 'failed') {
      log.error('an export was lost', { file: job.damaged.file, problem: job.damaged.message });
      fail(job, job.damaged, ': its saved state is damaged');
    } else if (record.status === 'complete' || record.status === 'failed') {
      const left = Math.max(0, Math.min(limits.expiry, (record.finished ?? 0) + limits.expiry - clock()));
      jobs.expire(job, left);
    } else if (record.version !== pack().version) {
      fail(job, new Error('the mappings have changed'), ': the mappings have changed since it began');
    } else if (record.status === 'running') {
      go(job);
    }
  }

  const unfinished = (): readonly LiveJob[] =>
    jobs.all().filter(({ record }) => record.status === 'running' || record.status === 'paused');

  return {
    start({ request, stages, remarks }, { access, base, url }) {
      const { caller } = access;
      const all = unfinished();
      const mine = all.filter(({ record }) => record.caller === caller);
      if (all.length >= limits.jobs || mine.length >= limits.jobsPerClient) {
        throw new FhirError('too-many-requests', 'Too many exports are not finished yet; wait for one or delete it', {
          retryAfter: 60,
        });
      }
      if (!onDisk(NOTHING_BEGUN, () => lock.take()))
        throw new FhirError('export-conflict', 'Another server uses the DATA_DIR of this one and exports into it');
      const record: JobRecord = {
        id: randomBytes(16).toString('hex'),
        caller,
        access,
        base,
        url,
        request,
        stages,
        remarks,
        version: pack().version,
        transactionTime: clock(),
        status: 'running',
      };
      onDisk(NOTHING_BEGUN, () => writeJob(join(root, record.id), record));
      const job = jobs.add(record, pack());
      go(job);
      return viewOf(job);
    },
    view(caller, id) {
      const job = own(caller, id);
      return job && viewOf(job);
    },
    list: caller => jobs.own(caller).map(viewOf),
    async pause(caller, id) {
      const job = own(caller, id);
      if (job?.record.status === 'running') {
        onDisk('it continues', () => jobs.save(job, { status: 'paused' }));
        Atomics.store(job.stop, 0, 1);
        await waitFor(job.running);
      }
      return job && viewOf(job);
    },
    resume(caller, id) {
      const job = own(caller, id);
      if (job?.record.status === 'paused') {
        onDisk('it remains paused', () => jobs.save(job, { status: 'running' }));
        go(job);
      }
      return job && viewOf(job);
    },
    async remove(caller, id) {
      const job = own(caller, id);
      if (!job) return false;
      onDisk('the export was not removed', () => jobs.unlist(job));
      Atomics.store(job.stop, 0, 1);
      await waitFor(job.running.then(() => jobs.forget(job)));
      return true;
    },
    download(caller, id, name) {
      const job = own(caller, id);
      return job?.record.status === 'complete' ? jobs.open(job, name) : undefined;
    },
    load() {
      const counts: Record<JobStatus, number> = { running: 0, paused: 0, complete: 0, failed: 0 };
      for (const { record } of jobs.all()) counts[record.status] += 1;
      return { jobs: counts, threads: threads.load() };
    },
    isLost(id) {
      const until = lost.get(id);
      if (until === undefined || until > clock()) return until !== undefined;
      try {
        removeFolder(join(root, id));
        lost.delete(id);
      } catch (error) {
        stuck({ record: { id } }, error);
      }
      return false;
    },
    async settled(id) {
      await jobs.find(id)?.running;
    },
    async close() {
      closed = true;
      jobs.close();
      const all = jobs.all();
      for (const job of all) Atomics.store(job.stop, 0, 1);
      await waitFor(Promise.all(all.map(({ running }) => running)));
      await threads.close();
      lock.release();
    },
  };
}

/** Throws FhirError `export-folder` if the file system refuses to write, before the client is promised anything. */
function onDisk<T>(left: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof FhirError) throw error;
    const why = isDiskFull(error) ? 'has no space left' : `cannot be written (${String(error.code)})`;
    throw new FhirError('export-folder', `The folder of the exports ${why}; ${left}`, { retryAfter: FULL });
  }
}

const NOTHING_BEGUN = 'nothing was begun';

/** Seconds until there may be room again. */
const FULL = 300;
