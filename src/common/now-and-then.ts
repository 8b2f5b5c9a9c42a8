/**
 * Reports progress, but only if the work takes long. In: the function that reports. Out: a function to call with each
 * step.
 */
import { performance } from 'node:perf_hooks';

/** Minimum milliseconds between two reports. */
const EVERY = 2000;

/** Returns a function that reports at most every 2 seconds; and never the same thing twice in a row. */
export function nowAndThen<T = string>(say: (what: T) => void): (what: T) => void {
  let last = performance.now();
  let said: T | undefined;
  return what => {
    if (performance.now() - last < EVERY || what === said) return;
    last = performance.now();
    said = what;
    say(what);
  };
}
