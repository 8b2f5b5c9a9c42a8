/**
 * A thread that exports: its own database connection, its own mappings, so that searches never wait for it. In: tasks as
 * messages. Out: progress and outcomes as messages; none holds a value of a patient.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { describeError } from '../log.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import { facadeOf, openDatabase, setUp } from '../setup.ts';
import { DatabaseError } from '../sql/database.ts';
import type { JobRecord, PartState } from './job.ts';
import { findMembers } from './members.ts';
import { isDiskFull } from './output.ts';
import { type PartReport, type PartSource, type PartTask, runPart } from './run-part.ts';

export type WorkerTask =
  | { readonly kind: 'part'; readonly task: PartTask }
  | { readonly kind: 'members'; readonly folder: string; readonly job: JobRecord };

export type WorkerMessage =
  | { readonly kind: 'progress'; readonly report: PartReport }
  | { readonly kind: 'part'; readonly state: PartState }
  | { readonly kind: 'members' }
  /** `full`: the disk, or the space for exports; `away`: the database; `other`: a fault, described without its message. */
  | { readonly kind: 'error'; readonly reason: 'full' | 'away' | 'other'; readonly error: string; readonly at: string };

/** What a thread is started with: the server's configuration, page links aside. */
export type WorkerConfig = Pick<Config, 'database' | 'dataDir' | 'mappings' | 'page'>;

async function openSource(config: WorkerConfig): Promise<PartSource> {
  const { database: first, pack, changed } = await setUp(config, () => {});
  if (pack.registry === undefined) throw new Error('the mappings have errors');
  let database = first;
  const { registry } = pack;
  const facade = facadeOf(registry, first, changed, { page: config.page, linkSecret: new Uint8Array(32) });
  return {
    registry,
    parse: facade.parse,
    shapes: shapeStore(),
    database: () => database,
    async reopen() {
      const opened = await openDatabase(config, () => {});
      await database.close();
      database = opened;
    },
  };
}

async function perform(task: WorkerTask, source: PartSource): Promise<WorkerMessage> {
  if (task.kind === 'members') {
    await findMembers(task.folder, task.job, source);
    return { kind: 'members' };
  }
  const state = await runPart(task.task, source, report => tell({ kind: 'progress', report }));
  return { kind: 'part', state };
}

function errorMessage(error: unknown): WorkerMessage {
  const { kind, at } = describeError(error);
  const away = error instanceof DatabaseError && error.reason !== 'failed';
  return { kind: 'error', reason: isDiskFull(error) ? 'full' : away ? 'away' : 'other', error: kind, at };
}

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

let opening: Promise<PartSource> | undefined;

parentPort?.on('message', async (task: WorkerTask) => {
  try {
    // A database that is away at first may be there later.
    opening ??= openSource(workerData as WorkerConfig);
    const source = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    tell(await perform(task, source));
  } catch (error) {
    tell(errorMessage(error));
  }
});
