/**
 * Limits how many answers are made at a time to what machine and database can bear (AIMD), with a short queue.
 * In: the most and the fewest slots, and how long a request may wait. Out: `enter`, which gives a slot. The limit
 * falls after an interval in which most answers were slow, and rises if requests waited and most were quick. A request
 * that could not be answered in time is refused before any work is done for it.
 */
import { DatabaseError } from '../../sql/database.ts';
import { retryIn } from '../../sql/retry-after.ts';
import type { Places } from '../middleware/limits.ts';

export interface PlacesOptions {
  /** Places at most, and at least. */
  readonly most: number;
  readonly least: number;
  /** That wait for a place, at most. */
  readonly queue: number;
  /** Milliseconds that one waits at most. */
  readonly wait: number;
}

export interface OpenPlaces extends Places {
  /** More wait already than could be served before they have waited too long. */
  isFull(): boolean;
  isStalled(): boolean;
}

/** Milliseconds: beyond, an answer took long; and of a moment, which has some answers at least. */
const TARGET = 500;
const MOMENT = 100;
const SOME = 5;
/** Milliseconds without any answer, with all places taken. */
const STALLED = 10_000;
/** Seconds, at least. */
const RETRY_AFTER = 1;

/** `clock`: milliseconds that never go back. */
export function createPlaces(
  { most, least, queue, wait }: PlacesOptions,
  clock: () => number = () => performance.now(),
): OpenPlaces {
  const waiting = new Set<() => void>();
  let size = most;
  let taken = 0;
  let refused = 0;
  let lastLeft = clock();
  /** Answers in a millisecond; undefined before the first moment is over. */
  let pace: number | undefined;
  let moment = { begun: clock(), ended: 0, slow: 0 };

  const learn = (took: number, now: number): void => {
    moment.ended++;
    if (took > TARGET) moment.slow++;
    if (now - moment.begun < MOMENT || moment.ended < SOME) return;
    pace = moment.ended / (now - moment.begun);
    if (moment.slow * 2 > moment.ended) size = Math.max(least, Math.floor(size * 0.8));
    else if (waiting.size > 0) size = Math.min(most, size + Math.ceil(size / 8));
    moment = { begun: now, ended: 0, slow: 0 };
  };

  const take = (): (() => void) => {
    if (taken === 0) moment = { begun: clock(), ended: 0, slow: 0 };
    taken++;
    const begun = clock();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      taken--;
      lastLeft = clock();
      learn(lastLeft - begun, lastLeft);
      for (const admit of waiting) {
        if (taken >= size) return;
        admit();
      }
    };
  };

  const isFull = (): boolean =>
    waiting.size >= queue || (pace !== undefined && waiting.size > Math.max(least, pace * wait));

  return {
    load: () => ({ size, taken, waiting: waiting.size, refused }),
    isFull,
    isStalled: () => taken >= size && clock() - lastLeft > STALLED,
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(cancelled());
        if (taken < size) {
          if (taken === 0) lastLeft = clock();
          return resolve(take());
        }
        const refuse = (): void => {
          refused++;
          reject(new DatabaseError('unavailable', 'too much is asked at a time', { retryAfter: retryIn(RETRY_AFTER) }));
        };
        if (isFull()) return refuse();
        const settle = (): void => {
          waiting.delete(admit);
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        const admit = (): void => {
          settle();
          resolve(take());
        };
        const abort = (): void => {
          settle();
          reject(cancelled());
        };
        const timer = setTimeout(() => {
          settle();
          refuse();
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
