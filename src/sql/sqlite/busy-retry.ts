/**
 * Repeats a statement that finds the SQLite file locked by a writer, until the writer is done or has had its time.
 *
 * In: what asks the database, given the present instant of performance.now(). Out: its answer, or its error. The thread
 * is free for others during the pauses. The time counts from the first statement that found the file locked, so that
 * later ones do not wait as long again.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../common/awaitable.ts';
import { isBusy } from './errors.ts';

/** At once, which is `now`, where nobody writes. `unhurried`: nobody waits for the answer, as in an export. */
export type BusyRetry = <T>(ask: (now: number) => T, now?: number, unhurried?: boolean) => Awaitable<T>;

/** Milliseconds that somebody who waits for an answer waits in all, and that others do. */
const AT_MOST = 1200;
const UNHURRIED = 5000;
/** Milliseconds of the first pause and of the longest; each is twice the one before. */
const FIRST = 10;
const LONGEST = 160;

export function createBusyRetry(): BusyRetry {
  /** When the file was found locked, if it was at the last look. */
  let since: number | undefined;

  const once = <T>(ask: (now: number) => T, now: number): T => {
    try {
      const answer = ask(now);
      since = undefined;
      return answer;
    } catch (error) {
      if (isBusy(error)) since ??= now;
      else since = undefined;
      throw error;
    }
  };

  const again = async <T>(ask: (now: number) => T, begun: number, unhurried: boolean): Promise<T> => {
    const end = unhurried ? begun + UNHURRIED : (since ?? begun) + AT_MOST;
    for (let wait = FIRST; ; wait = Math.min(2 * wait, LONGEST)) {
      await pause(wait);
      try {
        return once(ask, performance.now());
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
      }
    }
  };

  return (ask, now = performance.now(), unhurried = false) => {
    try {
      return once(ask, now);
    } catch (error) {
      return isBusy(error) ? again(ask, now, unhurried) : Promise.reject(error);
    }
  };
}
