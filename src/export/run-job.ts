/**
 * Runs a job to its end: first its members, then its parts, on threads. Progress is recorded in the job.
 */
import type { Log } from '../log.ts';
import { type Issue, issueOf } from '../outcome.ts';
import type { JobRecord, Part } from './job.ts';
import { allParts, isStopped, type LiveJob, standing, statesOf } from './live-job.ts';
import type { Quota } from './output.ts';
import type { PartSettings, PartTask } from './part-task.ts';
import { membersFile, readLines } from './store.ts';
import { TaskError, type Threads } from './threads.ts';

/** The job fails after so many crashes of threads. */
const CRASHES = 3;
/** Milliseconds before a database that was unreachable at the start is tried again. */
const AWAY = 1000;

export interface JobRunner {
  readonly threads: Threads;
  readonly settings: PartSettings;
  readonly quota: Quota;
  readonly log: Log;
  /** Adds a remark for the error file. */
  readonly remark: (job: LiveJob, issue: Issue) => void;
}

/** Runs all parts. True: they are done; false: stopped. Throws TaskError. */
export async function runParts(job: LiveJob, runner: JobRunner): Promise<boolean> {
  const { files, folder, record } = job;
  const found = await retryBusy(job, () =>
    runner.threads.run({ kind: 'members', files, folder, job: record }, () => {}),
  );
  const unknown = found && unknownPatients(folder, record);
  if (unknown) runner.remark(job, unknown);
  await together(
    job,
    record.stages.first.map(part => runOne(job, part, runner)),
  );
  for (const part of record.stages.second) await runOne(job, part, runner);
  if (isStopped(job)) return false;
  if (!statesOf(job).every(({ done }) => done)) throw new Error('a part is not finished');
  return true;
}

/** Waits for all parts. If one fails, the others stop after their current batch. */
async function together(job: LiveJob, parts: readonly Promise<void>[]): Promise<void> {
  for (const part of parts) part.catch(() => Atomics.store(job.stop, 0, 1));
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function runOne(job: LiveJob, part: Part, { threads, settings, quota, log }: JobRunner): Promise<void> {
  const known = job.progress.get(part.number);
  if (!known || known.report.state.done || isStopped(job)) return;
  const { folder, record, files, stop } = job;
  const task: PartTask = { folder, job: record, part, parts: allParts(record).length, settings, quota, stop };
  const outcome = await retryBusy(job, () =>
    threads.run({ kind: 'part', files, task }, report => job.progress.set(part.number, { report, running: true })),
  );
  if (outcome?.kind !== 'part') return;
  job.progress.set(part.number, standing(outcome.state));
  const { problem } = outcome.state;
  if (problem) log.warn('a type was not exported', { job: record.id, type: part.type, problem: problem.diagnostics });
}

/** Retries after the crash of a thread, and while the database is unreachable. Undefined: stopped. */
async function retryBusy<T>(job: LiveJob, action: () => Promise<T>): Promise<T | undefined> {
  for (let crashes = 0; !isStopped(job); ) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof TaskError) || error.reason === 'full' || error.reason === 'other') throw error;
      if (error.reason === 'crashed' && ++crashes >= CRASHES) throw error;
      await new Promise(resolve => setTimeout(resolve, error.reason === 'away' ? AWAY : 0).unref());
    }
  }
  return undefined;
}

/**
 * Reports requested patients that are not exported: unknown, or not a member of the group. In: a job whose members are
 * known. Out: an issue for its client; undefined if all are exported.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters
 */
export function unknownPatients(folder: string, { request: { level, patients } }: JobRecord): Issue | undefined {
  if (patients === undefined) return undefined;
  const asked = new Set(patients).size;
  const missing = asked - readLines(membersFile(folder)).length;
  if (missing === 0) return undefined;
  const why = level.kind === 'group' ? 'not on the list of the group, or not known here' : 'not known here';
  const diagnostics = `patient: of ${asked} that were named, ${missing} ${missing === 1 ? 'is' : 'are'} ${why}`;
  return issueOf('no-such-resource', diagnostics, { parameter: 'patient' });
}
