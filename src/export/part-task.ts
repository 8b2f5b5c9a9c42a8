/**
 * The messages between the main thread, the export threads and a part: its task, and what it reports.
 */
import type { Facade } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import type { Shapes } from '../pipeline/shapes.ts';
import type { Database } from '../sql/database.ts';
import type { JobRecord, Part, PartState } from './job.ts';
import type { Quota } from './output.ts';

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
  readonly sight: Facade['sight'];
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
