/**
 * Whose turn it is on a thread that runs statements itself: all that awaits them goes on at once, so that a document or a record of
 * hundreds of them would hold every other client, and the timer that ends it. In: how long one turn of the event loop may last.
 * Out: a wait before a statement, which ends at once while the turn is young.
 */
import { performance } from 'node:perf_hooks';

/**
 * `patience`: milliseconds. Beyond, statements wait until the event loop has gone round, other clients' events in between, and then have
 * a turn as long, in the order in which they came. What it gives takes the present instant, as performance.now() has it.
 */
export function createTimeSlices(patience: number): (now?: number) => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let begun: number | undefined;
  const end = (): void => {
    begun = undefined;
  };
  const isYoung = (now: number): boolean => {
    if (begun !== undefined) return now - begun < patience;
    begun = now;
    setImmediate(end);
    return true;
  };
  /** For each that waits once per round: what the one before it does is done by then, and counts. */
  const goOn = (): void => {
    if (isYoung(performance.now())) waiting.shift()?.();
    else setImmediate(goOn);
  };
  return (now = performance.now()) => {
    if (waiting.length === 0 && isYoung(now)) return undefined;
    setImmediate(goOn);
    return new Promise(resolve => waiting.push(resolve));
  };
}
