/**
 * Makes the client's view of a job. In: the record and the states of its parts. Out: the manifest, the lines of the
 * error file, the progress as text.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#response---complete-status
 */
import { type Issue, operationOutcome } from '../outcome.ts';
import { type JobRecord, type Part, type PartState, resourcesIn, resourcesOf } from './job.ts';

/** A file that can be downloaded: one of a part, or the error file. */
export interface OutputFile {
  /** Type of the resource in each line. */
  readonly type: string;
  readonly list: 'output' | 'deleted' | 'error';
  /** Type that the resources are about. */
  readonly about: string;
  /** `part-file`, or `error`. */
  readonly name: string;
  /** Resources in it. */
  readonly count: number;
  readonly bytes: number;
}

export interface Download {
  readonly file: OutputFile;
  readonly path: string;
  /** Releases the file after reading; until then it is not removed. */
  readonly release: () => void;
}

export interface PartView {
  readonly part: Part;
  readonly state: PartState;
  readonly share: number;
  readonly running: boolean;
  readonly waiting: boolean;
}

export interface JobView {
  readonly job: JobRecord;
  readonly parts: readonly PartView[];
  readonly errors: readonly Issue[];
  /** Milliseconds until its files are removed; undefined while the job is not finished. */
  readonly left: number | undefined;
}

/** Lists the files that have lines; clients cannot read an empty file. */
export function outputFiles({ parts }: Pick<JobView, 'parts'>): readonly OutputFile[] {
  return parts.flatMap(({ part, state }) =>
    state.files.flatMap((one, file) =>
      one.lines === 0
        ? []
        : [{ ...kindOf(part), name: `${part.number}-${file}`, count: resourcesIn(one), bytes: one.bytes }],
    ),
  );
}

function kindOf({ type, content }: Part): Pick<OutputFile, 'type' | 'list' | 'about'> {
  return content === 'deletions'
    ? { type: 'Bundle', list: 'deleted', about: type }
    : { type, list: 'output', about: type };
}

/** Lists the issues of the error file: what was ignored or is unknown, and types that failed. */
export function errorsOf(job: JobRecord, states: readonly PartState[]): readonly Issue[] {
  return [...job.remarks, ...states.flatMap(({ remark, problem }) => [remark ?? [], problem ?? []].flat())];
}

export function errorLines(errors: readonly Issue[]): string {
  return errors.map(issue => `${JSON.stringify(operationOutcome([issue]))}\n`).join('');
}

export function manifest(view: JobView, requiresAccessToken: boolean): object {
  const { job, errors } = view;
  const files = outputFiles(view);
  const { organizedBy } = job.request;
  const listed = (list: OutputFile['list']): readonly object[] =>
    files
      .filter(file => file.list === list)
      .map(({ type, name, count }) => ({
        ...(organizedBy === undefined || list !== 'output' ? { type } : {}),
        url: url(name),
        count,
      }));
  const url = (name: string): string => `${job.base}/$download-resource?_jobResourceId=${job.id}-${name}`;
  return {
    transactionTime: new Date(job.transactionTime).toISOString(),
    request: job.url,
    requiresAccessToken,
    ...(organizedBy === undefined ? {} : { outputOrganizedBy: organizedBy }),
    output: listed('output'),
    deleted: listed('deleted'),
    error: errors.length === 0 ? [] : [{ type: 'OperationOutcome', url: url('error'), count: errors.length }],
  };
}

/** Returns the X-Progress header: actual numbers, at most 100 characters. */
export function progressText({ job, parts }: JobView): string {
  const resources = parts.reduce((sum, { state }) => sum + resourcesOf(state), 0);
  // A type may have several parts: its resources, its deletions, resources read only for their references.
  const types = [...Map.groupBy(parts, ({ part }) => part.type).values()];
  const done = types.filter(ofType => ofType.every(({ state }) => state.done)).length;
  const running = parts.filter(one => one.running).map(({ part }) => part.type);
  const stage =
    job.status === 'paused' ? 'paused' : parts.some(({ waiting }) => waiting) ? 'waiting for the database' : running[0];
  const percent = Math.floor(100 * shareOf(parts));
  return `${percent}%, ${resources} resources, ${done} of ${types.length} types done${stage === undefined ? '' : `, ${stage}`}`.slice(
    0,
    100,
  );
}

/** Returns how much of a job is done, from 0 to 1: by resources if their number is known, else by slices. */
export function shareOf(parts: JobView['parts']): number {
  if (parts.length === 0) return 1;
  const shares = parts.map(({ state, share }) => {
    if (state.done) return 1;
    return state.total === undefined ? share : state.total === 0 ? 0 : Math.min(1, resourcesOf(state) / state.total);
  });
  return shares.reduce((sum, share) => sum + share, 0) / parts.length;
}
