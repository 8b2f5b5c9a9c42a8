/**
 * One part of a job from where it stands to its end. In: a task and a database. Out: files, and after every so often the
 * state from which a restart goes on: first the bytes reach the disk, then the state that speaks of them. Each resource
 * is written once: rows are read in the order of their unique key, which does not change under an update.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { OPEN_ACCESS } from '../auth/access.ts';
import type { Facade } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import { FhirError, type Issue } from '../outcome.ts';
import { writtenId } from '../pipeline/emitted.ts';
import type { Shapes } from '../pipeline/shapes.ts';
import { openSession, type Session } from '../pipeline/source.ts';
import type { Branch } from '../plan/branches.ts';
import { environment } from '../plan/environment.ts';
import type { WriteContext } from '../resource/compile.ts';
import { type Database, DatabaseError } from '../sql/database.ts';
import { isShared } from './compartment.ts';
import { deletedIds, deletionLine } from './deletions.ts';
import { deletionQuery, type TypeQuery, typeQuery } from './filters.ts';
import { bytesOf, type ExportRequest, type JobRecord, type Part, type PartState } from './job.ts';
import { type Output, openOutput, type Quota } from './output.ts';
import { referenceCollector, wantedIds } from './references.ts';
import { countSlice, planSlice, readBatches, readDeletions, type Slice } from './rows.ts';
import { membersFile, outputFile, readLines, readPart, removeFolder, writePart } from './store.ts';

/** Members, or ids, that one statement names. */
const SLICE = 250;
/** Milliseconds until a database that is away is asked again. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;

export interface PartSettings {
  /** Resources read at once. */
  readonly batch: number;
  readonly fileLines: number;
  /** Milliseconds between two states on disk; 0 keeps one after each batch. */
  readonly checkpoint: number;
}

export interface PartTask {
  readonly folder: string;
  readonly job: JobRecord;
  readonly part: Part;
  /** Parts of the job. */
  readonly parts: number;
  readonly settings: PartSettings;
  readonly quota: Quota;
  /** Not zero: stop at the end of the batch. Shared between threads. */
  readonly stop: Int32Array;
}

export interface PartSource {
  readonly registry: Registry;
  readonly parse: Facade['parse'];
  readonly shapes: Shapes;
  readonly database: () => Database;
  /** After the database was away. Throws DatabaseError while it still is. */
  readonly reopen: () => Promise<void>;
}

export interface PartReport {
  readonly state: PartState;
  /** Share of the slices that are finished, from 0 to 1, where the number of resources is not known. */
  readonly share: number;
  /** The database does not answer. */
  readonly waiting: boolean;
}

/**
 * Resolves when the part is done, has failed for its type (state.problem), or was told to stop (neither). Throws
 * QuotaError and what the file system throws: then the whole job fails.
 */
export async function runPart(
  task: PartTask,
  source: PartSource,
  report: (progress: PartReport) => void,
): Promise<PartState> {
  const { folder, part } = task;
  const begun = readPart(folder, part.number);
  if (begun.done) return begun;
  const output = openOutput({ folder, part: part.number, ...begun, ...task.settings, quota: task.quota });
  const stopped = (): boolean => Atomics.load(task.stop, 0) !== 0;
  try {
    return await new PartRun(task, source, output, begun, report).finish(stopped);
  } catch (error) {
    const problem = problemOf(error, part.type);
    if (problem === undefined) throw error;
    return abandon(task, readPart(folder, part.number), problem);
  } finally {
    output.close();
  }
}

/** What a type fails of, alone; undefined: not the type's fault. */
function problemOf(error: unknown, type: string): Issue | undefined {
  if (error instanceof FhirError) {
    return { severity: 'error', code: 'not-supported', diagnostics: `${type} was not exported: ${error.message}` };
  }
  if (error instanceof DatabaseError && error.reason === 'failed') {
    return {
      severity: 'error',
      code: 'exception',
      diagnostics: `${type} was not exported: the database refused a statement`,
    };
  }
  return undefined;
}

/** A type is exported in whole or not at all. */
function abandon({ folder, part, quota }: PartTask, state: PartState, problem: Issue): PartState {
  for (const [file] of state.files.entries()) removeFolder(outputFile(folder, part.number, file));
  Atomics.sub(quota.used, 0, BigInt(bytesOf(state) - state.collected));
  const failed = { ...state, files: [], cursor: undefined, done: true, problem };
  writePart(folder, part.number, failed);
  return failed;
}

class PartRun {
  readonly #task: PartTask;
  readonly #source: PartSource;
  readonly #output: Output;
  readonly #report: (progress: PartReport) => void;
  readonly #query: TypeQuery;
  readonly #collect: (texts: readonly string[]) => readonly string[];
  /** Ids that were written, where a resource may belong to members of several slices. */
  readonly #seen: Set<string> | undefined;
  readonly #slices: Slices;
  #state: PartState;
  #kept = performance.now();

  constructor(
    task: PartTask,
    source: PartSource,
    output: Output,
    begun: PartState,
    report: (progress: PartReport) => void,
  ) {
    const { folder, part, job } = task;
    this.#task = task;
    this.#source = source;
    this.#output = output;
    this.#report = report;
    this.#state = begun;
    const query = part.deleted ? deletionQuery : typeQuery;
    this.#query = query(part.type, part.write ? job.request : unnarrowed(job.request), source.parse, {
      access: OPEN_ACCESS,
      base: job.base,
    });
    this.#collect = referenceCollector(part.collect);
    this.#slices = slicesOf(task);
    const shared = part.scope === 'compartments' && this.#slices.count() > 1 && isShared(part.type, source.registry);
    this.#seen = shared ? new Set(writtenIds(folder, part, begun)) : undefined;
  }

  async finish(stopped: () => boolean): Promise<PartState> {
    while (!stopped()) {
      const slice = this.#slices.at(this.#state.slice);
      if (slice === undefined) {
        if (this.#slices.extend()) continue;
        return this.#keep({ ...this.#state, done: true });
      }
      if (!(await this.#patiently(() => this.#readSlice(slice, stopped), stopped))) break;
    }
    return this.#keep(this.#state);
  }

  /** Waits for a database that is away, and goes on behind the last batch. False: told to stop. */
  async #patiently(action: () => Promise<boolean>, stopped: () => boolean): Promise<boolean> {
    for (let pause = FIRST_WAIT; !stopped(); pause = Math.min(pause * 2, LONGEST_WAIT)) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.reason === 'failed') throw error;
        this.#tell(true);
        await wait(pause);
        await this.#reopen();
      }
    }
    return false;
  }

  async #reopen(): Promise<void> {
    try {
      await this.#source.reopen();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }

  /** False: told to stop before the slice was finished. */
  async #readSlice(slice: Slice, stopped: () => boolean): Promise<boolean> {
    const { job, part, settings } = this.#task;
    const { registry, shapes, database } = this.#source;
    const session = openSession(database(), environment(registry, job.transactionTime), shapes, { lane: 'export' });
    const { type, deleted } = part;
    const request = { type, query: this.#query, access: OPEN_ACCESS, slice, deleted };
    const branches = await planSlice(request, session);
    await this.#count(branches, session);
    const context: WriteContext = { base: job.base, now: job.transactionTime, zone: registry.pack.zone };
    const place = { cursor: this.#state.cursor, count: Math.min(settings.batch, settings.fileLines) };
    const batches = (deleted ? readDeletions : readBatches)(branches, request, place, context, session);
    for await (const { texts, last } of batches) {
      this.#take(texts);
      this.#advance({ cursor: last });
      if (stopped()) return false;
    }
    this.#advance({ slice: this.#state.slice + 1, cursor: undefined });
    return true;
  }

  async #count(branches: readonly Branch[], session: Session): Promise<void> {
    if (this.#state.total !== undefined || this.#slices.count() !== 1 || this.#task.part.deleted) return;
    this.#state = { ...this.#state, total: await countSlice(branches, session) };
    this.#tell(false);
  }

  #take(written: readonly string[]): void {
    const seen = this.#seen;
    const isNew = (json: string): boolean => {
      if (json === '' || seen === undefined) return json !== '';
      const before = seen.size;
      return seen.add(writtenId(json, this.#task.part.type)).size > before;
    };
    const texts = seen === undefined && !written.includes('') ? written : written.filter(isNew);
    const { type, write, deleted } = this.#task.part;
    if (deleted) {
      if (texts.length > 0)
        this.#output.write([
          deletionLine(
            type,
            texts.map(text => writtenId(text, type)),
          ),
        ]);
      return;
    }
    this.#output.collect(this.#collect(texts));
    if (write) this.#output.write(texts);
  }

  /** The state in memory moves with every batch; it is kept on disk every so often. */
  #advance(place: Pick<PartState, 'cursor'> & Partial<PartState>): void {
    const { files, collected } = this.#output;
    this.#state = { ...this.#state, ...place, files: [...files], collected };
    if (performance.now() - this.#kept >= this.#task.settings.checkpoint) this.#keep(this.#state);
  }

  #keep(state: PartState): PartState {
    this.#state = state;
    this.#output.sync();
    writePart(this.#task.folder, this.#task.part.number, state);
    this.#kept = performance.now();
    this.#tell(false);
    return state;
  }

  #tell(waiting: boolean): void {
    const count = this.#slices.count();
    this.#report({ state: this.#state, share: count === 0 ? 1 : Math.min(1, this.#state.slice / count), waiting });
  }
}

/** For what is read only for its references. */
function unnarrowed(request: ExportRequest): ExportRequest {
  return { ...request, since: undefined, until: undefined, elements: [] };
}

/** The slices of a part in order. */
interface Slices {
  at(index: number): Slice | undefined;
  count(): number;
  /** Finds out whether there are more, once all are finished. */
  extend(): boolean;
}

function slicesOf({ folder, part, job, parts }: PartTask): Slices {
  const { level, patients } = job.request;
  const single = (slice: Slice): Slices => ({
    at: index => (index === 0 ? slice : undefined),
    count: () => 1,
    extend: () => false,
  });
  switch (part.scope) {
    case 'all':
      return single({ kind: 'all' });
    case 'groups':
      return single(
        level.kind === 'group' && level.id !== undefined ? { kind: 'ids', ids: [level.id] } : { kind: 'all' },
      );
    case 'compartments': {
      if (level.kind === 'patient' && patients === undefined) return single({ kind: 'members', members: 'every' });
      const members = chunks(readLines(membersFile(folder)), SLICE);
      return {
        at: index => {
          const ids = members[index];
          return ids && { kind: 'members', members: { key: String(index), ids } };
        },
        count: () => members.length,
        extend: () => false,
      };
    }
    case 'referenced': {
      const wanted = wantedIds(folder, part, parts);
      const slices = (): readonly (readonly string[])[] => wanted.rounds.flatMap(ids => chunks(ids, SLICE));
      let known = slices();
      return {
        at: index => {
          const ids = known[index];
          return ids && { kind: 'ids', ids };
        },
        count: () => known.length,
        extend() {
          const more = wanted.extend();
          known = slices();
          return more;
        },
      };
    }
  }
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Ids in the recorded part of the files. */
function writtenIds(folder: string, { number, type, deleted }: Part, state: PartState): readonly string[] {
  const idsOf = (line: string): readonly string[] => (deleted ? deletedIds(line) : [writtenId(line, type)]);
  return state.files.flatMap(({ lines }, file) =>
    readLines(outputFile(folder, number, file))
      .slice(0, lines)
      .flatMap(idsOf),
  );
}
