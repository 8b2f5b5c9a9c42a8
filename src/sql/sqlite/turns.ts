/**
 * Whose turn it is on a thread that runs statements itself: all that awaits them goes on at once, so that a document or a record of
 * hundreds of them would hold every other client, and the timer that ends it. In: how long one turn of the event loop may last.
 * Out: a wait before a statement, which ends at once while the turn is young.
 */
import { performance } from 'node:perf_hooks';

/** `patience`: milliseconds. */
export function createTurns(patience: number): () => Promise<void> | undefined {
  let begun: number | undefined;
  const over = (): void => {
    begun = undefined;
  };
  return () => {
    if (begun === undefined) {
      begun = performance.now();
      setImmediate(over);
      return undefined;
    }
    if (performance.now() - begun < patience) return undefined;
    return new Promise(resolve => setImmediate(resolve));
  };
}
