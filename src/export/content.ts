/**
 * The interface of a part's content: from a slice to batches of texts, and from texts to lines of a file.
 */
import type { Session } from '../pipeline/session.ts';
import { environment } from '../plan/environment.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { PartSource, PartTask } from './part-task.ts';
import type { Batch, Place } from './rows.ts';
import type { Slice } from './slices.ts';

export interface PartContent {
  open(slice: Slice, session: Session): Promise<SliceContent>;
  /** The lines that a batch's texts make. */
  lines(texts: readonly string[]): readonly string[];
  /** Of the lines of each batch, those that begin a block. Absent: none. */
  readonly headers?: number;
  /** Ids of the resources that a line is about. */
  idsIn(line: string): readonly string[];
}

export interface SliceContent {
  /** Texts in all; undefined: nobody knows before they are read. */
  total(): Promise<number | undefined>;
  /**
   * By type those that a window of time leaves out because nothing says when they were changed; absent: nobody asks.
   */
  unstamped?(): Promise<Readonly<Record<string, number>>>;
  batches(place: Place): AsyncGenerator<Batch, void, undefined>;
}

export type ContentMaker = (task: PartTask, source: PartSource) => PartContent;

/** As of the start of the job, whenever it is read. */
export function writeContext({ job }: PartTask, { registry }: PartSource): WriteContext {
  return { base: job.base, now: job.transactionTime, zone: registry.pack.zone };
}

/** With the rights that the job began with. */
export function exportEnvironment({ job }: Pick<PartTask, 'job'>, { registry, sight }: PartSource): Session['env'] {
  return environment(registry, job.transactionTime, sight(job.access));
}
