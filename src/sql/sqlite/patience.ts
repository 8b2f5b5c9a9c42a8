/**
 * Waiting for a writer to finish, with the thread free for others. In: what asks the database, at an instant as performance.now() has
 * it. Out: its answer, or its error once the writer has had its time.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../awaitable.ts';
import { isBusy } from './errors.ts';

/** Milliseconds that a statement waits in all. */
const AT_MOST = 5000;
/** Milliseconds of the first pause and of the longest; each is twice the one before. */
const FIRST = 10;
const LONGEST = 160;

/** At once, which is `now`, where nobody writes. */
export function patiently<T>(ask: (now: number) => T, now = performance.now()): Awaitable<T> {
  try {
    return ask(now);
  } catch (error) {
    return isBusy(error) ? again(ask) : Promise.reject(error);
  }
}

async function again<T>(ask: (now: number) => T): Promise<T> {
  const end = performance.now() + AT_MOST;
  for (let wait = FIRST; ; wait = Math.min(2 * wait, LONGEST)) {
    await pause(wait);
    try {
      return ask(performance.now());
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
  }
}
