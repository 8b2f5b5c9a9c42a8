/**
 * Circuit breaker of one database. In: news of an outage, and a probe. Out: whether to send statements. While it is
 * open only the probe asks the database, at intervals, until it answers.
 */
import { DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface BreakerOptions {
  /** Rejects while the database is away. */
  readonly probe: () => Promise<void>;
  /** Milliseconds between two probes. */
  readonly pause: number;
}

export interface Breaker {
  /** Throws DatabaseError (`unavailable`) while open. */
  check(): void;
  isOpen(): boolean;
  /** Opens it. */
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
        // Whatever stops the probe stops a query too; the next probe looks again.
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
