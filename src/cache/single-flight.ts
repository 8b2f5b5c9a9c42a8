/**
 * Does equal work that is requested at the same time once, and gives its result to all callers (single-flight).
 *
 * In: a key, the work, and each caller's own signal. Out: the result. A caller that leaves gets an error and cancels
 * nobody else. The work is cancelled when all callers have left.
 */
import { cancelled, deadlineOf, endsAt } from '../sql/database.ts';

export interface Flight<V> {
  readonly promise: Promise<V>;
  /** True if the work was already running. */
  readonly joined: boolean;
}

export interface SingleFlight<V> {
  /**
   * Joins the running work of that key if `mayJoin` accepts its start (an instant of `clock`), else starts it. The
   * promise rejects with the error of the work, or with DatabaseError `cancelled` once `signal` aborts.
   */
  take(
    key: string,
    signal: AbortSignal | undefined,
    mayJoin: (begun: number) => boolean,
    work: (signal: AbortSignal) => Promise<V>,
  ): Flight<V>;
}

interface UnderWay<V> {
  readonly begun: number;
  readonly abort: AbortController;
  readonly result: Promise<V>;
  waiting: number;
}

/** `clock`: milliseconds of a monotonic clock. */
export function createSingleFlight<V>(clock: () => number): SingleFlight<V> {
  const underWay = new Map<string, UnderWay<V>>();

  const begin = (key: string, until: number | undefined, work: (signal: AbortSignal) => Promise<V>): UnderWay<V> => {
    const abort = new AbortController();
    // Starts the work synchronously, before any caller waits.
    if (until !== undefined) endsAt(abort.signal, until);
    const flight: UnderWay<V> = { begun: clock(), abort, result: work(abort.signal), waiting: 0 };
    underWay.set(key, flight);
    const over = (): void => forget(key, flight);
    flight.result.then(over, over);
    return flight;
  };

  const forget = (key: string, flight: UnderWay<V>): void => {
    if (underWay.get(key) === flight) underWay.delete(key);
  };

  const wait = (key: string, flight: UnderWay<V>, signal: AbortSignal | undefined): Promise<V> => {
    flight.waiting++;
    return orCancelled(flight.result, signal, () => {
      flight.waiting--;
      if (flight.waiting > 0) return;
      forget(key, flight);
      flight.abort.abort();
    });
  };

  return {
    take(key, signal, mayJoin, work) {
      if (signal?.aborted) return { joined: false, promise: Promise.reject(cancelled()) };
      const known = underWay.get(key);
      const joined = known !== undefined && mayJoin(known.begun);
      const until = deadlineOf(signal);
      const flight = joined ? known : begin(key, until, work);
      if (until !== undefined) endsAt(flight.abort.signal, until);
      return { joined, promise: wait(key, flight, signal) };
    },
  };
}

/**
 * Returns the promise's result, or rejects with DatabaseError `cancelled` when the signal aborts; only then it calls
 * `onLeave`.
 */
export function orCancelled<V>(
  promise: Promise<V>,
  signal: AbortSignal | undefined,
  onLeave: () => void = () => {},
): Promise<V> {
  if (!signal) return promise;
  return new Promise<V>((resolve, reject) => {
    const leave = (): void => {
      reject(cancelled());
      onLeave();
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
