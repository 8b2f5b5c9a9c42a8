/**
 * A lane: so many statements, or answers, at the same time, so many more that wait for a while, all others refused at once. In: limits.
 * Out: `enter`, which gives a place and the way to leave it. First come, first served.
 */
import { DatabaseError, type LaneLoad } from './database.ts';

export interface LaneOptions {
  readonly size: number;
  readonly queue: number;
  /** Milliseconds. */
  readonly wait: number;
}

export interface Lane {
  /**
   * Resolves to the function that leaves the lane; calling it again does nothing. Throws DatabaseError: `unavailable`
   * where the queue is full or the wait too long, `cancelled` by the signal.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  load(): LaneLoad;
}

/** Seconds: a place becomes free within the time of a statement. */
const RETRY_AFTER = 1;

export function createLane({ size, queue, wait }: LaneOptions): Lane {
  const waiting = new Set<() => void>();
  let taken = 0;
  let refused = 0;

  const leave = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = waiting;
      // The place goes from hand to hand, so that nobody who comes later can take it.
      if (next) next();
      else taken--;
    };
  };

  return {
    load: () => ({ size, taken, waiting: waiting.size, refused }),
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(cancelled());
        if (taken < size) {
          taken++;
          return resolve(leave());
        }
        const refuse = (message: string): void => {
          refused++;
          reject(new DatabaseError('unavailable', message, { retryAfter: RETRY_AFTER }));
        };
        if (waiting.size >= queue) return refuse('too many statements wait for the database');
        const settle = (): void => {
          waiting.delete(admit);
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        const admit = (): void => {
          settle();
          resolve(leave());
        };
        const abort = (): void => {
          settle();
          reject(cancelled());
        };
        const timer = setTimeout(() => {
          settle();
          refuse('no connection to the database became free in time');
        }, wait);
        waiting.add(admit);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
  };
}

function cancelled(): DatabaseError {
  return new DatabaseError('cancelled', 'the query was cancelled');
}
