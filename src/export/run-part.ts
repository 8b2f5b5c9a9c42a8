/**
 * Runs one part of a job from its state to its end. In: a task and a database. Out: files, and regularly the state from
 * which a restart continues; it is written after the bytes that it describes. Each resource is written once: rows are
 * read by their unique key, which updates do not change.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { plural } from '../common/plural.ts';
import { FhirError, type Issue, issueOf } from '../outcome.ts';
import { writtenId } from '../pipeline/emitted.ts';
import { openSession } from '../pipeline/session.ts';
import { DatabaseError } from '../sql/database.ts';
import { isShared } from './compartment.ts';
import { exportEnvironment, type PartContent, type SliceContent } from './content.ts';
import { contentOf } from './contents.ts';
import { bytesOf, type Part, type PartState } from './job.ts';
import { type Output, openOutput } from './output.ts';
import type { PartReport, PartSource, PartTask } from './part-task.ts';
import { referenceCollector } from './references.ts';
import { type Slice, type Slices, slicesOf } from './slices.ts';
import { outputFile, readLines, readPart, removeFiles, writePart } from './store.ts';

/** Milliseconds before a database that is unreachable is tried again: first, and at most. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;

/**
 * Resolves when the part is done, its type has failed (state.problem), or it was stopped (neither). Throws QuotaError
 * and errors of the file system: then the whole job fails.
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
    const problem = problemOf(error, part);
    if (problem === undefined) throw error;
    return abandon(task, readPart(folder, part.number), problem);
  } finally {
    output.close();
  }
}

/** Returns the problem if an error fails only this type; undefined: the error is not the type's fault. */
function problemOf(error: unknown, { type, content }: Part): Issue | undefined {
  const failed = content === 'deletions' ? `${type}: what was deleted is not told` : `${type} was not exported`;
  if (error instanceof FhirError) {
    return issueOf(error.kind, `${failed}: ${error.message}`);
  }
  if (error instanceof DatabaseError && error.reason === 'failed') {
    return issueOf('database-failed', `${failed}: the database refused a statement: ${error.message}`);
  }
  return undefined;
}

/** Removes the files of a failed type: it is exported as a whole or not at all. */
function abandon({ folder, part, quota }: PartTask, state: PartState, problem: Issue): PartState {
  removeFiles(folder, part.number);
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
  readonly #content: PartContent;
  readonly #collect: (texts: readonly string[]) => readonly string[];
  /** Ids that were written; only if a resource may belong to members of several slices. */
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
    const { part } = task;
    this.#task = task;
    this.#source = source;
    this.#output = output;
    this.#report = report;
    this.#state = begun;
    this.#content = contentOf(task, source);
    this.#collect = referenceCollector(part.collect);
    this.#slices = slicesOf(task);
    const shared =
      part.scope === 'compartments' &&
      part.content !== 'blocks' &&
      this.#slices.count() > 1 &&
      isShared(part.type, source.registry);
    this.#seen = shared ? new Set(writtenIds(task, begun, this.#content)) : undefined;
  }

  async finish(stopped: () => boolean): Promise<PartState> {
    // Report first: planning and counting may take seconds.
    this.#reportProgress(false);
    while (!stopped()) {
      const slice = this.#slices.at(this.#state.slice);
      if (slice === undefined) {
        // Further slices depend on the collected references, which have to be in their file.
        if (this.#task.part.scope === 'referenced') this.#keep(this.#state);
        if (this.#slices.extend()) continue;
        return this.#keep({ ...this.#state, ...unstampedRemark(this.#state), done: true });
      }
      await this.#retryBusy(() => this.#readSlice(slice, stopped), stopped);
    }
    return this.#keep(this.#state);
  }

  /** Retries while the database is unreachable, continuing after the last batch, until stopped. */
  async #retryBusy(action: () => Promise<void>, stopped: () => boolean): Promise<void> {
    for (let pause = FIRST_WAIT; !stopped(); pause = Math.min(pause * 2, LONGEST_WAIT)) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.reason === 'failed') throw error;
        this.#reportProgress(true);
        await wait(pause);
        await this.#reopen();
      }
    }
  }

  async #reopen(): Promise<void> {
    try {
      await this.#source.reopen();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }

  /** Reads a slice; when stopped, ends after the current batch. */
  async #readSlice(slice: Slice, stopped: () => boolean): Promise<void> {
    const { settings } = this.#task;
    const { shapes, database } = this.#source;
    const session = openSession(database(), exportEnvironment(this.#task, this.#source), shapes, {
      bulkhead: 'export',
    });
    const content = await this.#content.open(slice, session);
    await this.#count(content);
    const place = { cursor: this.#state.cursor, count: Math.min(settings.batch, settings.fileLines) };
    for await (const { lists, last } of content.batches(place)) {
      for (const texts of lists) this.#take(texts);
      this.#advance({ cursor: last });
      if (stopped()) return;
    }
    const unstamped = added(this.#state.unstamped, (await content.unstamped?.()) ?? {});
    this.#advance({ slice: this.#state.slice + 1, cursor: undefined, ...(unstamped && { unstamped }) });
  }

  async #count(content: SliceContent): Promise<void> {
    if (this.#state.total !== undefined || this.#slices.count() !== 1) return;
    this.#state = { ...this.#state, total: await content.total() };
    this.#reportProgress(false);
  }

  #take(written: readonly string[]): void {
    const seen = this.#seen;
    const isNew = (json: string): boolean => {
      if (json === '' || seen === undefined) return json !== '';
      const before = seen.size;
      return seen.add(writtenId(json, this.#task.part.type)).size > before;
    };
    const texts = seen === undefined && !written.includes('') ? written : written.filter(isNew);
    this.#output.collect(this.#collect(texts));
    if (this.#task.part.write) this.#output.write(this.#content.lines(texts), this.#content.headers);
  }

  /** Updates the state in memory after every batch, and on disk at intervals. */
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
    this.#reportProgress(false);
    return state;
  }

  #reportProgress(waiting: boolean): void {
    const count = this.#slices.count();
    this.#report({ state: this.#state, share: count === 0 ? 1 : Math.min(1, this.#state.slice / count), waiting });
  }
}

/** Returns a remark about resources without a time of change: no window of time ever includes them. */
function unstampedRemark({ unstamped }: PartState): Pick<PartState, 'remark'> {
  if (unstamped === undefined) return {};
  const types = Object.entries(unstamped).map(([type, count]) => `${type}: ${plural(count, 'resource')}`);
  const diagnostics = `${types.join(', ')} without a time of change omitted, as always with _since and _until`;
  return { remark: issueOf('incomplete', diagnostics, { severity: 'warning' }) };
}

/** Adds numbers by type and omits zeros; undefined: there are none. */
function added(sums: PartState['unstamped'] = {}, more: Readonly<Record<string, number>>): PartState['unstamped'] {
  const types = [...new Set([...Object.keys(sums), ...Object.keys(more)])];
  const all = types.map(type => [type, (sums[type] ?? 0) + (more[type] ?? 0)] as const).filter(([, sum]) => sum > 0);
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** Returns the ids in the recorded lines of the files. */
function writtenIds({ folder, part }: PartTask, state: PartState, content: PartContent): readonly string[] {
  return state.files.flatMap(({ lines }, file) =>
    readLines(outputFile(folder, part.number, file))
      .slice(0, lines)
      .flatMap(line => content.idsIn(line)),
  );
}
