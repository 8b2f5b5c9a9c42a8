/**
 * Notices a database that takes statements and answers none. In: statements that are under way, and a probe. Out: a signal
 * that ends them all once the probe has failed too; a statement that merely takes long is left alone.
 */
import { DatabaseError } from './database.ts';

export interface SilenceOptions {
  /** Rejects while the database is away. */
  readonly probe: () => Promise<void>;
  /** Milliseconds that a statement may be without an answer before the probe is sent, and between two of them. */
  readonly patience: number;
  /** Told when the probe has failed. */
  readonly onSilence: () => void;
}

export interface Silence {
  /** Runs a statement. Its signal aborts with a DatabaseError (`unavailable`) where the database has fallen silent. */
  during<T>(statement: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Likewise of rows that come in lists: watched is the wait for each list, not what the caller does with it. */
  duringEach<T>(rows: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined>;
}

/** Seconds. */
const RETRY_AFTER = 1;

export function createSilence({ probe, patience, onSilence }: SilenceOptions): Silence {
  const waiting = new Map<AbortController, number>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const before = performance.now() - patience;
    if ([...waiting.values()].some(since => since <= before)) {
      try {
        await probe();
      } catch {
        // Whatever stops the probe stops the statements too.
        onSilence();
        const reason = new DatabaseError('unavailable', 'the database does not answer', { retryAfter: RETRY_AFTER });
        for (const controller of waiting.keys()) controller.abort(reason);
      }
    }
    timer = undefined;
    schedule();
  };

  const schedule = (): void => {
    if (timer !== undefined || waiting.size === 0) return;
    timer = setTimeout(look, patience);
    timer.unref();
  };

  const waitFor = async <T>(answer: Promise<T>, controller: AbortController): Promise<T> => {
    waiting.set(controller, performance.now());
    schedule();
    try {
      return await answer;
    } finally {
      waiting.delete(controller);
    }
  };

  return {
    during(statement) {
      const controller = new AbortController();
      return waitFor(statement(controller.signal), controller);
    },
    async *duringEach(rows) {
      const controller = new AbortController();
      const lists = rows(controller.signal);
      try {
        for (;;) {
          const { value, done } = await waitFor(lists.next(), controller);
          if (done) return;
          yield value;
        }
      } finally {
        await lists.return();
      }
    },
  };
}
