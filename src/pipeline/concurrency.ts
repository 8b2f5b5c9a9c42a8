/** Limits how many statements of one request run at a time. */
import { type Awaitable, andEnd } from '../common/awaitable.ts';

/** A function that runs at most so many works at a time; the others wait in the order in which they came. */
export function limitConcurrency(most: number): <T>(work: () => Awaitable<T>) => Awaitable<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    // The place goes to the next that waits, so that nobody who comes later can take it.
    if (next) next();
    else running--;
  };
  return work => {
    if (running === most) return new Promise<void>(resolve => waiting.push(resolve)).then(() => andEnd(work, leave));
    running++;
    return andEnd(work, leave);
  };
}
