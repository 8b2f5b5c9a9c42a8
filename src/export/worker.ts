/**
 * Runs an export thread, with its own database connection and mappings, so that searches never wait for it. In: tasks
 * as messages. Out: progress and outcomes as messages, without patients' values.
 */
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { RequestContext } from '../facade.ts';
import { describeError } from '../log.ts';
import type { PackFiles } from '../mapping/load/read/files.ts';
import { countStatements, type StatementCount, tallyStatements } from '../observe/statements.ts';
import { FhirError } from '../outcome.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import type { Parameters } from '../search/query.ts';
import { type Database, DatabaseError, FormDisproved } from '../sql/database.ts';
import { printError } from '../start/print-error.ts';
import type { Announce } from '../start/setup.ts';
import { openSource, PackError, type SourceConfig } from './export-source.ts';
import type { ExportLevel, JobRecord, PartState } from './job.ts';
import { findMembers, isGroup } from './members.ts';
import { isDiskFull } from './output.ts';
import type { PartReport, PartSource, PartTask } from './part-task.ts';
import { readExportRequest, type UnderstoodRequest } from './request.ts';
import { runPart } from './run-part.ts';
import { withSmallHeap } from './small-heap.ts';

/** `files`: the pack as of the start of the job, whatever the folder holds now. */
export type WorkerTask = { readonly files: PackFiles } & (
  | { readonly kind: 'part'; readonly task: PartTask }
  | { readonly kind: 'members'; readonly folder: string; readonly job: JobRecord }
  /** For a process without mappings of its own. */
  | {
      readonly kind: 'understand';
      readonly level: ExportLevel;
      readonly parameters: Parameters;
      readonly context: RequestContext;
    }
);

type TaskOf<K extends WorkerTask['kind']> = Extract<WorkerTask, { kind: K }>;

export type WorkerMessage =
  | { readonly kind: 'progress'; readonly report: PartReport }
  /**
   * Statements that ended since the last such message. Sent before every other message, so that none is lost with the
   * last one.
   */
  | { readonly kind: 'statements'; readonly counts: readonly StatementCount[] }
  | { readonly kind: 'part'; readonly state: PartState }
  | { readonly kind: 'members' }
  /** `notes` are for a person; `understood` is undefined if the mappings, the database or the request has an error. */
  | {
      readonly kind: 'understood';
      readonly understood: UnderstoodRequest | undefined;
      readonly notes: readonly string[];
    }
  /**
   * `full`: the disk, or the space for exports; `away`: the database; `other`: a fault, described without its message.
   */
  | { readonly kind: 'error'; readonly reason: 'full' | 'away' | 'other'; readonly error: string; readonly at: string };

async function perform(task: WorkerTask): Promise<WorkerMessage> {
  switch (task.kind) {
    case 'members':
      await findMembers(task.folder, task.job, await sourceOf(task.files));
      return { kind: 'members' };
    case 'part': {
      const source = await sourceFor(task.task.part.type, task.files);
      return { kind: 'part', state: await runPart(task.task, source, report => post({ kind: 'progress', report })) };
    }
    case 'understand':
      return understand(task);
  }
}

async function understand({ files, level, parameters, context }: TaskOf<'understand'>): Promise<WorkerMessage> {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  try {
    const source = await sourceOf(files, note);
    const understood = readExportRequest(level, parameters, source, context);
    if (level.kind === 'group' && level.id !== undefined && !(await isGroup(level.id, context, source)))
      throw new FhirError('no-such-resource', 'No Group has this id');
    return { kind: 'understood', understood, notes };
  } catch (error) {
    if (!(error instanceof PackError)) printError(error, note);
    return { kind: 'understood', understood: undefined, notes };
  }
}

/** Maximum restarts for rows in new forms; if a database's forms keep changing, the task fails. */
const NEW_FORMS = 20;

/**
 * Performs a task. If a column turns out to be written in another form than the thread has found, restarts from the
 * last state.
 */
async function performAnew(task: WorkerTask): Promise<WorkerMessage> {
  for (let times = 0; ; times++) {
    try {
      return await perform(task);
    } catch (error) {
      if (!(error instanceof FormDisproved) || times === NEW_FORMS) throw error;
      await letGo();
    }
  }
}

function errorMessage(error: unknown): WorkerMessage {
  const { kind, at } = describeError(error);
  const away = error instanceof DatabaseError && error.reason !== 'failed';
  // Only these two messages are written by Lintel and hold no value.
  const text = error instanceof DatabaseError || error instanceof PackError ? `${kind}: ${error.message}` : kind;
  return { kind: 'error', reason: isDiskFull(error) ? 'full' : away ? 'away' : 'other', error: text, at };
}

const tally = tallyStatements();

function post(message: WorkerMessage): void {
  const counts = tally.take();
  if (counts.length > 0) parentPort?.postMessage({ kind: 'statements', counts } satisfies WorkerMessage);
  parentPort?.postMessage(message);
}

// If the processor is short, searches come first. On Linux each thread has a priority, and the call without an id sets
// that of the calling thread; elsewhere it would set the whole process.
// https://man7.org/linux/man-pages/man2/setpriority.2.html
const { PRIORITY_BELOW_NORMAL } = constants.priority;
if (process.platform === 'linux' && getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL);

let opened: { readonly version: string; readonly type?: string; readonly source: PartSource } | undefined;

/** Opens one version at a time. An unreachable database may be reachable later. */
async function sourceOf(files: PackFiles, announce?: Announce): Promise<PartSource> {
  if (opened?.version === files.version) return opened.source;
  await letGo();
  const counted = (database: Database): Database => countStatements(database, tally.count);
  const source = await withSmallHeap(() => openSource(workerData as SourceConfig, files, announce, counted));
  opened = { version: files.version, source };
  return source;
}

async function letGo(): Promise<void> {
  await opened?.source.database().close();
  opened = undefined;
}

/** Drops what was compiled and prepared for the previous type: a whole record has many types. */
async function sourceFor(type: string, files: PackFiles): Promise<PartSource> {
  const source = await sourceOf(files);
  if (opened?.type === type) return source;
  source.database().forget?.();
  opened = { version: files.version, type, source: { ...source, shapes: shapeStore() } };
  return opened.source;
}

/** Closes all resources, so that the thread ends by itself. */
async function end(): Promise<void> {
  parentPort?.close();
  await opened?.source.database().close();
}

parentPort?.on('message', async (task: WorkerTask | 'end') => {
  try {
    if (task === 'end') return await end();
    post(await performAnew(task));
  } catch (error) {
    post(errorMessage(error));
  }
});
