/**
 * Says what is at hand, but only where the work takes long. In: who is told. Out: a function that takes each next step.
 */
import { performance } from 'node:perf_hooks';

/** Milliseconds between two words about work that goes on. */
const EVERY = 2000;

/** The first word comes after some seconds. */
export function nowAndThen<T = string>(say: (what: T) => void): (what: T) => void {
  let last = performance.now();
  return what => {
    if (performance.now() - last < EVERY) return;
    last = performance.now();
    say(what);
  };
}
