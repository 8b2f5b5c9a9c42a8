/**
 * Lets other requests be answered while a document is made. Out: a function to call after each entry, which returns a
 * promise only if much time has passed since the last pause.
 */
import { setImmediate } from 'node:timers/promises';

export type Pause = () => Promise<void> | undefined;

/** Milliseconds of work between two pauses. */
const WORK = 20;

export function createPause(): Pause {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < WORK) return undefined;
    return setImmediate().then(() => {
      begun = performance.now();
    });
  };
}

/** For work on which no request waits. */
export const never: Pause = () => undefined;
