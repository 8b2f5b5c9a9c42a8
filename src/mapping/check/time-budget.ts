/**
 * Limits the time for counting. In: milliseconds for all statements. Out: a signal for each statement, which gets a
 * share of the rest, so that one slow statement leaves time for others; and the places that were not counted.
 */
import { performance } from 'node:perf_hooks';
import { cancelled, wasEnded, within } from '../../sql/database.ts';
import type { Position } from '../model.ts';

/** Largest share of the remaining time for one statement. */
const SHARE = 1 / 5;

export interface TimeBudget {
  /** Returns the signal for the next statement. Throws DatabaseError `cancelled` once the time is over. */
  next(): AbortSignal;
  /** Records a place that was not counted in time. False if the error has another cause. */
  tookTooLong(error: unknown, at: Position): boolean;
  /** In the order of the statements. */
  readonly late: readonly Position[];
}

export function createTimeBudget(milliseconds: number): TimeBudget {
  const ends = performance.now() + milliseconds;
  const late: Position[] = [];
  return {
    next() {
      const now = performance.now();
      if (now >= ends) throw cancelled();
      return within((ends - now) * SHARE);
    },
    tookTooLong(error, at) {
      if (!wasEnded(error)) return false;
      late.push(at);
      return true;
    },
    late,
  };
}
