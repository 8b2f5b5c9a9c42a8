/**
 * Whose turn it is on a thread that runs statements itself: all that awaits them goes on at once, so that a document or a record of
 * hundreds of them would hold every other client, and the timer that ends it. In: how long one turn of the event loop may last.
 * Out: a wait before a statement, which ends at once while the turn is young.
 */
import { performance } from 'node:perf_hooks';

/** `patience`: milliseconds. Beyond, statements go one by one in the order in which they came, other clients' events in between. */
export function createTurns(patience: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let begun: number | undefined;
  const begin = (): void => {
    begun = performance.now();
    setImmediate(goRound);
  };
  const goRound = (): void => {
    begun = undefined;
    const next = waiting.shift();
    if (next === undefined) return;
    begin();
    next();
  };
  return () => {
    if (begun === undefined) {
      begin();
      return undefined;
    }
    if (waiting.length === 0 && performance.now() - begun < patience) return undefined;
    return new Promise(resolve => waiting.push(resolve));
  };
}
