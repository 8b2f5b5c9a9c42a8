/**
 * The export jobs of a server: started, watched, paused, resumed, deleted, expired; and continued after a restart. In:
 * requests that were understood. Out: views of jobs. Jobs fall into parts, which wait in one queue for a thread.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describeError, type Log } from '../log.ts';
import type { PackFiles } from '../mapping/load/files.ts';
import type { Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { bytesOf, type JobRecord, type JobStatus, NEW_PART, type Part, type PartState } from './job.ts';
import { errorLines, errorsOf, type JobView, type OutputFile, outputFiles } from './manifest.ts';
import type { PartReport, PartSettings, PartTask } from './part-task.ts';
import { partsOf, type Stages } from './parts.ts';
import type { UnderstoodRequest } from './request.ts';
import { errorFile, outputFile, readJobs, readPart, removeFolder, replaceFile, writeJob } from './store.ts';
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

/** A version of the mappings, and the files that threads load it from. */
export interface ExportPack {
  readonly registry: Registry;
  readonly files: PackFiles;
}

export interface JobsOptions {
  /** Folder of the jobs; made with the first. */
  readonly root: string;
  /** The version that is served now. A job keeps the one that it began with. */
  readonly pack: () => ExportPack;
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

interface Job {
  record: JobRecord;
  readonly folder: string;
  readonly files: PackFiles;
  readonly stages: Stages;
  readonly progress: Map<number, { report: PartReport; running: boolean }>;
  stop: Int32Array;
  running: Promise<void>;
  readers: number;
  removed: boolean;
  /** On the clock that never jumps. */
  expires: number | undefined;
}

const SWEEP_MILLISECONDS = 60_000;
const CRASHES = 3;
const LONGEST_TIMER = 2 ** 31 - 1;

export function openJobs(options: JobsOptions): Jobs {
  const { root, pack, threads, limits, settings, log, clock = Date.now } = options;
  const jobs = new Map<string, Job>();
  const used = new BigInt64Array(new SharedArrayBuffer(8));
  const quota = { used, limit: limits.bytes };
  let closed = false;

  const own = (caller: string, id: string): Job | undefined => {
    sweep();
    const job = jobs.get(id);
    return job?.record.caller === caller && !job.removed ? job : undefined;
  };

  const update = (job: Job, change: Partial<JobRecord>): void => {
    job.record = { ...job.record, ...change };
    writeJob(job.folder, job.record);
  };

  const addJob = (record: JobRecord): Job => {
    const folder = join(root, record.id);
    const { registry, files } = pack();
    const stages = partsOf(record.request, registry);
    const job: Job = {
      record,
      folder,
      files,
      stages,
      progress: new Map(),
      stop: stopFlag(),
      running: Promise.resolve(),
      readers: 0,
      removed: false,
      expires: undefined,
    };
    for (const part of allParts(stages)) {
      const state = readPart(folder, part.number);
      job.progress.set(part.number, { report: { state, share: state.done ? 1 : 0, waiting: false }, running: false });
      Atomics.add(used, 0, BigInt(bytesOf(state)));
    }
    jobs.set(record.id, job);
    return job;
  };

  const go = (job: Job): void => {
    job.stop = stopFlag();
    job.running = run(job).catch((error: unknown) => fail(job, error));
  };

  const run = async (job: Job): Promise<void> => {
    await patiently(job, () =>
      threads.run({ kind: 'members', files: job.files, folder: job.folder, job: job.record }, () => {}),
    );
    await together(
      job,
      job.stages.first.map(part => runOne(job, part)),
    );
    for (const part of job.stages.second) await runOne(job, part);
    if (isStopped(job)) return;
    const states = statesOf(job);
    if (!states.every(({ done }) => done)) throw new Error('a part is not finished');
    replaceFile(errorFile(job.folder), errorLines(errorsOf(job.record, states)));
    update(job, { status: 'complete', finished: clock() });
    job.expires = performance.now() + limits.expiry;
    log.info('export complete', { job: job.record.id, files: outputFiles(viewOf(job)).length });
  };

  /** One failed: the others stop at their next batch, and are waited for. */
  const together = async (job: Job, parts: readonly Promise<void>[]): Promise<void> => {
    for (const part of parts) part.catch(() => Atomics.store(job.stop, 0, 1));
    const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };

  const runOne = async (job: Job, part: Part): Promise<void> => {
    const known = job.progress.get(part.number);
    if (!known || known.report.state.done || isStopped(job)) return;
    const task: PartTask = {
      folder: job.folder,
      job: job.record,
      part,
      parts: allParts(job.stages).length,
      settings,
      quota,
      stop: job.stop,
    };
    const outcome = await patiently(job, () =>
      threads.run({ kind: 'part', files: job.files, task }, report =>
        job.progress.set(part.number, { report, running: true }),
      ),
    );
    if (outcome?.kind !== 'part') return;
    const { state } = outcome;
    job.progress.set(part.number, { report: { state, share: state.done ? 1 : 0, waiting: false }, running: false });
    if (state.problem) log.warn('a type was not exported', { job: job.record.id, type: part.type });
  };

  /** A thread that crashed is replaced, a database that is away is waited for. Undefined: told to stop. */
  const patiently = async <T>(job: Job, action: () => Promise<T>): Promise<T | undefined> => {
    for (let crashes = 0; !isStopped(job); ) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof TaskError) || error.reason === 'full' || error.reason === 'other') throw error;
        if (error.reason === 'crashed' && ++crashes >= CRASHES) throw error;
        await new Promise(resolve => setTimeout(resolve, error.reason === 'away' ? 1000 : 0).unref());
      }
    }
    return undefined;
  };

  const fail = (job: Job, error: unknown, why?: string): void => {
    if (closed || job.removed) return;
    Atomics.store(job.stop, 0, 1);
    const full = error instanceof TaskError ? error.reason === 'full' : isFull(error);
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
      log.error('the state of a failed export could not be kept', { job: job.record.id, full: isFull(again) });
    }
  };

  const discard = (job: Job): void => {
    const bytes = statesOf(job).reduce((sum, state) => sum + bytesOf(state), 0);
    Atomics.sub(used, 0, BigInt(bytes));
    removeFolder(job.folder);
  };

  const forget = (job: Job): void => {
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
    } else if (record.version !== pack().registry.version) {
      fail(job, new Error('the mappings have changed'), ': the mappings have changed since it began');
    } else if (record.status === 'running') {
      go(job);
    }
  }
  const sweeper = setInterval(sweep, Math.min(SWEEP_MILLISECONDS, limits.expiry, LONGEST_TIMER)).unref();

  const unfinished = (): readonly Job[] =>
    [...jobs.values()].filter(({ record }) => record.status === 'running' || record.status === 'paused');

  return {
    start({ request, remarks }, { caller, base, url }) {
      sweep();
      const all = unfinished();
      const mine = all.filter(({ record }) => record.caller === caller);
      if (all.length >= limits.jobs || mine.length >= limits.jobsPerClient) {
        throw new FhirError('throttled', 'Too many exports are not finished yet; wait for one or delete it', {
          retryAfter: 60,
        });
      }
      const record: JobRecord = {
        id: randomBytes(16).toString('hex'),
        caller,
        base,
        url,
        request,
        remarks,
        version: pack().registry.version,
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
      const found = findFile(job, name);
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
    },
  };
}

function findFile(job: Job, name: string): Pick<Download, 'file' | 'path'> | undefined {
  const view = viewOf(job);
  if (name === 'error') {
    if (view.errors.length === 0) return undefined;
    const bytes = Buffer.byteLength(errorLines(view.errors));
    return {
      file: { type: 'OperationOutcome', list: 'error', about: '', name, lines: view.errors.length, bytes },
      path: errorFile(job.folder),
    };
  }
  const file = outputFiles(view).find(one => one.name === name);
  if (file) {
    const [part = 0, number = 0] = name.split('-').map(Number);
    return { file, path: outputFile(job.folder, part, number) };
  }
  return undefined;
}

function viewOf(job: Job): JobView {
  const parts = allParts(job.stages).map(part => {
    const { report, running } = job.progress.get(part.number) ?? NOTHING;
    return { part, state: report.state, share: report.share, waiting: report.waiting, running };
  });
  return { job: job.record, parts, errors: errorsOf(job.record, statesOf(job)) };
}

const NOTHING = { report: { state: NEW_PART, share: 0, waiting: false }, running: false } as const;

const allParts = ({ first, second }: Stages): readonly Part[] => [...first, ...second];
const statesOf = (job: Job): readonly PartState[] => [...job.progress.values()].map(({ report }) => report.state);
const stopFlag = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));
const isStopped = (job: Job): boolean => Atomics.load(job.stop, 0) !== 0;

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
