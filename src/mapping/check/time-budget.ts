/**
 * The time that counting may take. In: milliseconds for all questions. Out: a signal for each statement, which gets a
 * part of what is left, so that one slow question leaves time for others; and the places that were not counted.
 */
import { performance } from 'node:perf_hooks';
import { cancelled, wasEnded, within } from '../../sql/database.ts';
import type { Position } from '../model.ts';

/** One statement takes this share of the time that is left, at most. */
const SHARE = 1 / 5;

export interface TimeBudget {
  /** For the next statement. Throws DatabaseError `cancelled` once the time is over. */
  next(): AbortSignal;
  /** Notes what is about a place and was not answered in time. False: the error says something else. */
  tookTooLong(error: unknown, at: Position): boolean;
  /** In the order in which they were asked. */
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
