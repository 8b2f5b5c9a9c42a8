/**
 * Limits how many answers are made at a time, as each holds its rows in memory while it waits for the database. In:
 * slots, and work. Out: the result of the work, once there is a slot.
 */
import { FhirError } from '../../outcome.ts';
import { type BulkheadLoad, DatabaseError } from '../../sql/database.ts';

/** First come, first served. */
export interface Places {
  /**
   * Resolves to the function that gives the place back. Rejects with DatabaseError where too many wait, or the signal
   * aborts.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  load(): BulkheadLoad;
  /** All places are taken, and for long nobody has given one back. */
  isStalled?(): boolean;
}

export interface Admission {
  /** For all that is read from the database, requests of a batch among them. */
  readonly answers: Places;
  /** For batches, which keep all their answers until the last is there. */
  readonly batches: Places;
}

/** Seconds after which there may be a place. */
const RETRY_AFTER = 1;

/** Without places nobody waits. Throws FhirError `transient` (503) where too many wait already. */
export async function admitted<T>(
  places: Places | undefined,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (places === undefined) return work();
  const leave = await places.enter(signal).catch(full);
  try {
    return await work();
  } finally {
    leave();
  }
}

function full(error: unknown): never {
  if (!(error instanceof DatabaseError) || error.reason !== 'unavailable') throw error;
  throw new FhirError('overload', 'Too much is asked at a time; try again later', {
    retryAfter: error.retryAfter ?? RETRY_AFTER,
  });
}
