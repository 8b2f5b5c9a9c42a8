/**
 * Delays refusals under overload: most clients that are refused repeat the request at once, whatever Retry-After says.
 * In: responses. Out: they are sent a moment later, so that a connection costs a few refusals per second and not
 * thousands. The number of delayed responses is bounded; the others are refused at once.
 */
import type { ServerResponse } from 'node:http';
import { retryIn } from '../../sql/retry-after.ts';
import { refuseBusy } from './malformed.ts';

/** Milliseconds that a refusal waits. */
const PAUSE = 250;
/** Refusals that wait. */
const MOST = 2000;
/** Seconds, at least. */
const RETRY_AFTER = 1;

/** What it gives refuses a response with 503 and Retry-After. */
export function createRefusals(): (response: ServerResponse) => void {
  let waiting = 0;
  return response => {
    if (waiting >= MOST) {
      refuseBusy(response, retryIn(RETRY_AFTER));
      return;
    }
    waiting++;
    setTimeout(() => {
      waiting--;
      refuseBusy(response, retryIn(RETRY_AFTER));
    }, PAUSE);
  };
}
