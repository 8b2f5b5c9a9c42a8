/** Declares the interface of a part's content: from a slice to batches of texts, and from texts to lines of a file. */
import type { Session } from '../pipeline/session.ts';
import { environment } from '../plan/environment.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { PartSource, PartTask } from './part-task.ts';
import type { Batch, Place } from './rows.ts';
import type { Slice } from './slices.ts';

export interface PartContent {
  open(slice: Slice, session: Session): Promise<SliceContent>;
  /** Returns the lines for the texts of a batch. */
  lines(texts: readonly string[]): readonly string[];
  /** Lines of each batch that begin a block. Absent: none. */
  readonly headers?: number;
  /** Returns the ids of the resources that a line is about. */
  idsIn(line: string): readonly string[];
}

export interface SliceContent {
  /** Counts all texts; undefined if the number is unknown before they are read. */
  total(): Promise<number | undefined>;
  /**
   * Counts by type the resources that a window of time leaves out because they have no time of change. Absent: not
   * needed.
   */
  unstamped?(): Promise<Readonly<Record<string, number>>>;
  batches(place: Place): AsyncGenerator<Batch, void, undefined>;
}

export type ContentMaker = (task: PartTask, source: PartSource) => PartContent;

/** Writes resources as of the start of the job, whenever they are read. */
export function writeContext({ job }: PartTask, { registry }: PartSource): WriteContext {
  return { base: job.base, now: job.transactionTime, zone: registry.pack.zone };
}

/** Returns an environment with the rights that the job began with. */
export function exportEnvironment(
  { job }: Pick<PartTask, 'job'>,
  { registry, visibility }: PartSource,
): Session['env'] {
  return environment(registry, job.transactionTime, visibility(job.access));
}
