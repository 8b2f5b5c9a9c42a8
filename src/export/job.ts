/**
 * Declares the record of an export job on disk: the request, its parts and the state of each.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html
 */
import type { Access } from '../auth/access.ts';
import type { Issue } from '../outcome.ts';
import type { Cursor } from '../search/cursor.ts';

/**
 * The type on which Group level exports are defined. https://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export
 */
export const GROUP_TYPE = 'Group';

/** Whose data is exported. A group without an id means all groups. */
export type ExportLevel =
  | { readonly kind: 'system' }
  | { readonly kind: 'patient' }
  | { readonly kind: 'group'; readonly id: string | undefined };

/** A kick-off request after parsing. */
export interface ExportRequest {
  readonly level: ExportLevel;
  /** Types to write, all of them mapped. */
  readonly types: readonly string[];
  /** Types of these whose resources are written only if they are about resources of the others. */
  readonly associated: readonly string[];
  /** FHIR instants or dates, as they were sent. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** Searches; several for one type are alternatives. */
  readonly typeFilters: readonly {
    readonly type: string;
    readonly parameters: readonly (readonly [string, string])[];
  }[];
  /** Elements of one type, or of all if `type` is undefined. */
  readonly elements: readonly { readonly type: string | undefined; readonly name: string }[];
  /** Logical ids of patients that the export is narrowed to. */
  readonly patients: readonly string[] | undefined;
  /** Type of the resources by which files are organized; undefined: each file holds one type. */
  readonly organizedBy?: string | undefined;
}

/** True if the export is about every patient, so that no list of members is needed. */
export function isEverybody({ level, patients, organizedBy }: ExportRequest): boolean {
  return level.kind === 'patient' && patients === undefined && organizedBy === undefined;
}

export type JobStatus = 'running' | 'paused' | 'complete' | 'failed';

/** `job.json`; written by the main thread alone. */
export interface JobRecord {
  readonly id: string;
  /** The client: `Access.caller`. */
  readonly caller: string;
  /** What the job may read, fixed when it began. */
  readonly access: Access;
  /** Absolute base of the FHIR interface as the client addressed it. */
  readonly base: string;
  /** The kick-off request's URL. */
  readonly url: string;
  readonly request: ExportRequest;
  readonly stages: Stages;
  /** Ignored parameters with the reason, for the manifest's error file. */
  readonly remarks: readonly Issue[];
  /** Version of the pack; a job is not continued with other mappings. */
  readonly version: string;
  /** Milliseconds since the epoch, taken before anything was read. Conditions on the present instant use it. */
  readonly transactionTime: number;
  readonly status: JobStatus;
  /** Milliseconds since the epoch. */
  readonly finished?: number;
  /** Why the job failed; contains no patient's data. */
  readonly failure?: string;
}

/** One type of a job, the unit in the queue. */
export interface Part {
  readonly number: number;
  readonly type: string;
  /**
   * `all`: every resource; `compartments`: those of patients; `groups`: the requested groups; `referenced`: resources
   * that earlier parts referred to.
   */
  readonly scope: 'all' | 'compartments' | 'groups' | 'referenced';
  /**
   * `resources` of the type; `deletions`: its deleted records; `blocks`: all that belongs to each of its resources in
   * turn.
   */
  readonly content: 'resources' | 'deletions' | 'blocks';
  /** False: read only for the references. */
  readonly write: boolean;
  /** Types outside every compartment; references to them are collected here. */
  readonly collect: readonly string[];
}

/** The parts of a job: those that can run in parallel, and those that follow one after the other. */
export interface Stages {
  readonly first: readonly Part[];
  /** In order: a type comes after the types that refer to it. */
  readonly second: readonly Part[];
}

export interface FileState {
  readonly lines: number;
  readonly bytes: number;
  /** Number of these lines that begin a block and are not resources of the export. Absent: none. */
  readonly headers?: number;
}

/** `part-<number>.json`; written only by the worker, after the bytes that it describes. */
export interface PartState {
  /** Finished slices: chunks of members, or of references. */
  readonly slice: number;
  /** Position from which to continue within the slice. */
  readonly cursor: Cursor | undefined;
  /** Files in order, the last one unfinished. */
  readonly files: readonly FileState[];
  /** Bytes of the collected references. */
  readonly collected: number;
  /** Number of all resources, counted in advance; undefined if unknown. */
  readonly total: number | undefined;
  readonly done: boolean;
  /** Resources by type that are omitted because they have no time of change, in the slices so far. */
  readonly unstamped?: Readonly<Record<string, number>>;
  /** Remark for the manifest's error file about a part that has not failed. */
  readonly remark?: Issue;
  /** Reason why the part has failed; then it has no files. */
  readonly problem?: Issue;
}

export const NEW_PART: PartState = {
  slice: 0,
  cursor: undefined,
  files: [],
  collected: 0,
  total: undefined,
  done: false,
};

export const resourcesIn = ({ lines, headers = 0 }: FileState): number => lines - headers;
export const resourcesOf = ({ files }: Pick<PartState, 'files'>): number =>
  files.reduce((sum, file) => sum + resourcesIn(file), 0);
export const bytesOf = (state: PartState): number =>
  state.files.reduce((sum, { bytes }) => sum + bytes, state.collected);
