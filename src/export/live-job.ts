/** Holds a job in memory: its record, its parts, their progress, and the number of readers of its files. */
import { join } from 'node:path';
import { DamagedFile } from '../common/sealed-file.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import { type JobRecord, NEW_PART, type Part, type PartState } from './job.ts';
import { errorLines, errorsOf, type JobView, type OutputFile, outputFiles } from './manifest.ts';
import type { PartReport } from './part-task.ts';
import { errorFile, outputFile, readPart } from './store.ts';

export interface LiveJob {
  record: JobRecord;
  readonly folder: string;
  /** The mappings with which it began. */
  readonly files: PackFiles;
  readonly progress: Map<number, { report: PartReport; running: boolean }>;
  stop: Int32Array;
  running: Promise<void>;
  readers: number;
  removed: boolean;
  /** Milliseconds on the monotonic clock. */
  expires: number | undefined;
  /** The file of its state that could not be read: the job can neither continue nor be downloaded. */
  readonly damaged: DamagedFile | undefined;
}

/** Loads a job from its state on disk, without running it. */
export function liveJob(record: JobRecord, root: string, files: PackFiles): LiveJob {
  const folder = join(root, record.id);
  const progress: LiveJob['progress'] = new Map();
  let damaged: DamagedFile | undefined;
  for (const { number } of allParts(record)) {
    try {
      progress.set(number, standing(readPart(folder, number)));
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      damaged = error;
      progress.set(number, standing(NEW_PART));
    }
  }
  return {
    record,
    folder,
    files,
    progress,
    stop: stopFlag(),
    running: Promise.resolve(),
    readers: 0,
    removed: false,
    expires: undefined,
    damaged,
  };
}

/** Returns the progress of a part that no thread works on. */
export function standing(state: PartState): { readonly report: PartReport; readonly running: boolean } {
  return { report: { state, share: state.done ? 1 : 0, waiting: false }, running: false };
}

/** Finds a file and its path. `name` of an OutputFile; undefined: the job has no such file. */
export function fileOf(job: LiveJob, name: string): { readonly file: OutputFile; readonly path: string } | undefined {
  const view = viewOf(job);
  if (name === 'error') {
    if (view.errors.length === 0) return undefined;
    const bytes = Buffer.byteLength(errorLines(view.errors));
    return {
      file: { type: 'OperationOutcome', list: 'error', about: '', name, count: view.errors.length, bytes },
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

export function viewOf(job: LiveJob): JobView {
  const parts = allParts(job.record).map(part => {
    const { report, running } = job.progress.get(part.number) ?? standing(NEW_PART);
    return { part, state: report.state, share: report.share, waiting: report.waiting, running };
  });
  const left = job.expires && Math.max(0, job.expires - performance.now());
  return { job: job.record, parts, errors: errorsOf(job.record, statesOf(job)), left };
}

export const allParts = ({ stages }: JobRecord): readonly Part[] => [...stages.first, ...stages.second];
export const statesOf = (job: LiveJob): readonly PartState[] =>
  [...job.progress.values()].map(({ report }) => report.state);
export const stopFlag = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));
export const isStopped = (job: LiveJob): boolean => Atomics.load(job.stop, 0) !== 0;
