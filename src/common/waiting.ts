/**
 * Waits in a queue for a turn, which comes, is late, or is no longer wanted. In: the queue: what gives a waiter its
 * turn, in their order, and what each waits for.
 */
export type Queue<T> = Map<() => void, T>;

export interface Waiter<T> {
  readonly of: T;
  readonly milliseconds: number;
  readonly signal: AbortSignal | undefined;
  /** One of these three is called, and once. Each is out of the queue by then. */
  admitted(): void;
  late(): void;
  aborted(): void;
}

/** At the end of the queue. A signal that is aborted already tells nothing more: callers look at it first. */
export function waitIn<T>(queue: Queue<T>, { of, milliseconds, signal, ...waiter }: Waiter<T>): void {
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
