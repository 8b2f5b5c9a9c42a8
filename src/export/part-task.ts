/** Declares the messages between the main thread, the export threads and a part: its task, and its reports. */
import type { Facade } from '../facade.ts';
import type { Registry } from '../mapping/model.ts';
import type { Shapes } from '../pipeline/shapes.ts';
import type { Database } from '../sql/database.ts';
import type { JobRecord, Part, PartState } from './job.ts';
import type { Quota } from './output.ts';

export interface PartSettings {
  /** Resources per batch. */
  readonly batch: number;
  readonly fileLines: number;
  /** Milliseconds between two states on disk; 0 writes one after each batch. */
  readonly checkpoint: number;
}

export interface PartTask {
  readonly folder: string;
  readonly job: JobRecord;
  readonly part: Part;
  /** Number of parts of the job. */
  readonly parts: number;
  readonly settings: PartSettings;
  readonly quota: Quota;
  /** Not zero: stop after the batch. Shared between threads. */
  readonly stop: Int32Array;
}

export interface PartSource {
  readonly registry: Registry;
  readonly parse: Facade['parse'];
  readonly visibility: Facade['visibility'];
  readonly shapes: Shapes;
  readonly database: () => Database;
  /** Opens the database again after an outage. Throws DatabaseError while the outage lasts. */
  readonly reopen: () => Promise<void>;
}

export interface PartReport {
  readonly state: PartState;
  /** Finished share of the slices, from 0 to 1, for use if the number of resources is unknown. */
  readonly share: number;
  /** True while the database does not answer. */
  readonly waiting: boolean;
}
