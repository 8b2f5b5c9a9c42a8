/**
 * The record of an export job on disk: the request, its parts and the state of each.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html
 */
import type { Access } from '../auth/access.ts';
import type { Issue } from '../outcome.ts';
import type { Cursor } from '../search/cursor.ts';

/**
 * The type that Group level exports are defined on. https://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export
 */
export const GROUP_TYPE = 'Group';

/** Whose data is asked for. A group without an id stands for all groups. */
export type ExportLevel =
  | { readonly kind: 'system' }
  | { readonly kind: 'patient' }
  | { readonly kind: 'group'; readonly id: string | undefined };

/** A kick-off request after it was understood. */
export interface ExportRequest {
  readonly level: ExportLevel;
  /** Types to be written, all of them mapped. */
  readonly types: readonly string[];
  /** Those of them that come along only where they are about resources of the others. */
  readonly associated: readonly string[];
  /** FHIR instants or dates, as they came. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** Searches; several of one type are alternatives. */
  readonly typeFilters: readonly {
    readonly type: string;
    readonly parameters: readonly (readonly [string, string])[];
  }[];
  /** Elements, each of one type or (type undefined) of all. */
  readonly elements: readonly { readonly type: string | undefined; readonly name: string }[];
  /** Logical ids of patients that the export is narrowed to. */
  readonly patients: readonly string[] | undefined;
  /** The type by whose resources the files are organized; undefined: a file holds one type. */
  readonly organizedBy?: string | undefined;
}

/** About every patient there is, so that nobody has to be listed. */
export function isEverybody({ level, patients, organizedBy }: ExportRequest): boolean {
  return level.kind === 'patient' && patients === undefined && organizedBy === undefined;
}

export type JobStatus = 'running' | 'paused' | 'complete' | 'failed';

/** `job.json`; written by the main thread alone. */
export interface JobRecord {
  readonly id: string;
  /** Who asked: `Access.caller`. */
  readonly caller: string;
  /** What it may read, as it was when the job began. */
  readonly access: Access;
  /** Absolute base of the FHIR interface as the client addressed it. */
  readonly base: string;
  /** The kick-off request's URL. */
  readonly url: string;
  readonly request: ExportRequest;
  readonly stages: Stages;
  /** What was ignored and why, for the manifest's error file. */
  readonly remarks: readonly Issue[];
  /** Of the pack; a job is not continued with other mappings. */
  readonly version: string;
  /** Milliseconds since the epoch: before anything was read. Conditions on the present instant mean this one. */
  readonly transactionTime: number;
  readonly status: JobStatus;
  /** Milliseconds since the epoch. */
  readonly finished?: number;
  /** Why the job failed; names no value. */
  readonly failure?: string;
}

/** One type of a job, the unit that is queued. */
export interface Part {
  readonly number: number;
  readonly type: string;
  /**
   * `all`: every resource; `compartments`: those of patients; `groups`: the groups that were asked for; `referenced`:
   * what parts before it referred to.
   */
  readonly scope: 'all' | 'compartments' | 'groups' | 'referenced';
  /** Its resources, its deleted records, or all that belongs to its resources, one after the other. */
  readonly content: 'resources' | 'deletions' | 'blocks';
  /** False: read only for what it refers to. */
  readonly write: boolean;
  /** Types outside every compartment whose references are collected here. */
  readonly collect: readonly string[];
}

/** The parts that a job falls into: what can be read at once, and then, one after the other, the rest. */
export interface Stages {
  readonly first: readonly Part[];
  /** In order: a type comes after those that refer to it. */
  readonly second: readonly Part[];
}

export interface FileState {
  readonly lines: number;
  readonly bytes: number;
  /** Of the lines, those that begin a block and are no resources of the export. Absent: none. */
  readonly headers?: number;
}

/** `part-<number>.json`; written by the worker alone, after the bytes that it speaks of. */
export interface PartState {
  /** Slices that are finished: chunks of members, or of references. */
  readonly slice: number;
  /** Where to continue within the slice. */
  readonly cursor: Cursor | undefined;
  /** Files in order, the last one unfinished. */
  readonly files: readonly FileState[];
  /** Bytes of the collected references. */
  readonly collected: number;
  /** Resources in all, counted before; undefined where the number is not known. */
  readonly total: number | undefined;
  readonly done: boolean;
  /** Resources by type that are left out because nothing says when they were changed, of the slices so far. */
  readonly unstamped?: Readonly<Record<string, number>>;
  /** What the manifest's error file says of the part, which has not failed. */
  readonly remark?: Issue;
  /** The part has failed for this reason and has no files. */
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
