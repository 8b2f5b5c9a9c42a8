/**
 * A queue whose waiters are admitted, time out, or are aborted. The keys, in order, are functions that admit a waiter;
 * the values are what each waits for.
 */
export type Queue<T> = Map<() => void, T>;

export interface Waiter<T> {
  readonly of: T;
  readonly milliseconds: number;
  readonly signal: AbortSignal | undefined;
  /** Exactly one of these three is called, once; the waiter has left the queue by then. */
  admitted(): void;
  late(): void;
  aborted(): void;
}

/** Appends a waiter to the queue. A signal that is already aborted fires no event, so callers must check it first. */
export function enqueue<T>(queue: Queue<T>, { of, milliseconds, signal, ...waiter }: Waiter<T>): void {
  const then = (go: () => void) => (): void => {
    queue.delete(admit);
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    go();
  };
  const admit = then(waiter.admitted);
  const abort = then(waiter.aborted);
  const timer = setTimeout(then(waiter.late), milliseconds);
  queue.set(admit, of);
  signal?.addEventListener('abort', abort, { once: true });
}
