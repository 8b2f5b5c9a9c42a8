/**
 * Circuit breaker of one database. In: reports of an outage, and a probe. Out: whether to send statements. While it is
 * open, only the probe queries the database, at intervals, until the database answers.
 */
import { DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface BreakerOptions {
  /** Rejects while the database is unreachable. */
  readonly probe: () => Promise<void>;
  /** Milliseconds between two probes. */
  readonly pause: number;
}

export interface Breaker {
  /** Throws DatabaseError (`unavailable`) while it is open. */
  check(): void;
  isOpen(): boolean;
  /** Opens the breaker. */
  trip(): void;
  /** Stops probing. */
  close(): void;
}

export function createBreaker({ probe, pause }: BreakerOptions): Breaker {
  let open = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    timer = setTimeout(async () => {
      try {
        await probe();
        open = false;
      } catch {
        // Any error of the probe would also fail a query, so the breaker stays open until a later probe succeeds.
        if (!closed) schedule();
      }
    }, pause);
    timer.unref();
  };

  return {
    isOpen: () => open,
    check() {
      if (!open) return;
      throw new DatabaseError('unavailable', 'the database is away', { retryAfter: retryIn(Math.ceil(pause / 1000)) });
    },
    trip() {
      if (open || closed) return;
      open = true;
      schedule();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
