/**
 * Waiting for a writer to finish, with the thread free for others. In: what asks the database, at an instant as performance.now() has
 * it. Out: its answer, or its error once the writer has had its time. That begins with the first statement that found the file locked: those
 * that come later do not wait as long again each.
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
