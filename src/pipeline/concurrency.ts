import { type Awaitable, andEnd } from '../common/awaitable.ts';

/** Work of which so much is under way at a time; the rest waits in the order in which it came. */
export function limitConcurrency(most: number): <T>(work: () => Awaitable<T>) => Awaitable<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    // The turn goes from hand to hand, so that nobody who comes later can take it.
    if (next) next();
    else running--;
  };
  return work => {
    if (running === most) return new Promise<void>(resolve => waiting.push(resolve)).then(() => andEnd(work, leave));
    running++;
    return andEnd(work, leave);
  };
}
