/**
 * Shares the main thread between requests: SQLite's statements run on it, so a document of hundreds of statements would
 * hold up every other client, and the timer that ends it.
 *
 * In: how long statements may run in one round of the event loop. Out: a wait before a statement, which ends at once
 * while the time of this round is not used up.
 */
import { performance } from 'node:perf_hooks';

/**
 * `slice`: milliseconds of one round. Statements beyond them wait for the next round, in the order in which they came,
 * so that other clients' events come in between. The function returned takes the present instant of performance.now().
 */
export function createTimeSlices(slice: number): (now?: number) => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let begun: number | undefined;
  const end = (): void => {
    begun = undefined;
  };
  const isYoung = (now: number): boolean => {
    if (begun !== undefined) return now - begun < slice;
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
