/**
 * Manages the pool of export threads. In: tasks. Out: their outcomes. A thread performs one task after the other and
 * ends when it has been idle for a while.
 */
import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import type { CountStatements } from '../observe/statements.ts';
import type { SourceConfig } from './export-source.ts';
import type { PartReport } from './part-task.ts';
import type { WorkerMessage, WorkerTask } from './worker.ts';

/** A failed task. `crashed`: the thread has ended. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
  readonly reason: 'full' | 'away' | 'other' | 'crashed';
  readonly at: string;

  constructor(reason: TaskError['reason'], message: string, at = '') {
    super(message);
    this.reason = reason;
    this.at = at;
  }
}

export type Outcome = Exclude<WorkerMessage, { kind: 'error' | 'progress' | 'statements' }>;

export interface Threads {
  /** Runs a task. Rejects with TaskError. */
  run(task: WorkerTask, report: (progress: PartReport) => void): Promise<Outcome>;
  /** Tasks that are running, and tasks that wait for a thread. */
  load(): { readonly running: number; readonly waiting: number };
  /** Ends the threads, even if they are busy. */
  close(): Promise<void>;
}

const IDLE_MILLISECONDS = 30_000;
const TIME_LIMIT = 3000;
/** Limits the heap of a thread, so that the memory of an export stays small whatever its size. */
const RESOURCES = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 } as const;

/** Asks a thread to close its resources and end; terminates one that does not. */
async function end(worker: Worker): Promise<void> {
  const ended = new Promise<void>(resolve => worker.once('exit', () => resolve()));
  worker.postMessage('end');
  const cut = setTimeout(() => void worker.terminate(), TIME_LIMIT);
  await ended;
  clearTimeout(cut);
}

/** Opens the pool. `count` is called with the statements that the threads send. */
export function openThreads(config: SourceConfig, concurrency: number, count: CountStatements = () => {}): Threads {
  const queue = new PQueue({ concurrency });
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const timers = new Map<Worker, NodeJS.Timeout>();

  const take = (): Worker => {
    const known = idle.pop();
    if (known) {
      clearTimeout(timers.get(known));
      known.ref();
      return known;
    }
    const worker = new Worker(new URL('./thread.mjs', import.meta.url), {
      workerData: config,
      resourceLimits: RESOURCES,
      stdin: false,
    });
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      retire(worker);
    });
    return worker;
  };
  /** Gives the thread no more tasks. */
  const retire = (worker: Worker): void => {
    clearTimeout(timers.get(worker));
    timers.delete(worker);
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
  };
  const giveBack = (worker: Worker): void => {
    if (!all.has(worker)) return;
    idle.push(worker);
    worker.unref();
    const timer = setTimeout(() => {
      retire(worker);
      void end(worker);
    }, IDLE_MILLISECONDS);
    timers.set(worker, timer.unref());
  };

  const perform = (task: WorkerTask, report: (progress: PartReport) => void): Promise<Outcome> => {
    const worker = take();
    return new Promise<Outcome>((resolve, reject) => {
      const ended = (): void => reject(new TaskError('crashed', 'the thread has ended'));
      const failed = (error: Error): void => reject(new TaskError('crashed', error.name));
      const receive = (message: WorkerMessage): void => {
        if (message.kind === 'progress') {
          report(message.report);
          return;
        }
        if (message.kind === 'statements') {
          message.counts.forEach(count);
          return;
        }
        worker.off('message', receive);
        worker.off('exit', ended);
        worker.off('error', failed);
        giveBack(worker);
        if (message.kind === 'error') reject(new TaskError(message.reason, message.error, message.at));
        else resolve(message);
      };
      worker.on('message', receive);
      worker.once('exit', ended);
      worker.once('error', failed);
      worker.postMessage(task);
    });
  };

  return {
    load: () => ({ running: queue.pending, waiting: queue.size }),
    run: (task, report) => queue.add(() => perform(task, report)),
    async close() {
      queue.clear();
      await Promise.all([...all].map(end));
    },
  };
}
