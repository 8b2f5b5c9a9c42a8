/**
 * Notices a database that accepts statements but answers none, and ends the statements that wait for it.
 *
 * In: statements under way, and a probe. Out: a signal that ends them all once the probe has failed too. A statement
 * that only takes long is left alone.
 */
import { inTime } from '../common/in-time.ts';
import { DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface StallDetectorOptions {
  /** Rejects while the database is unreachable. */
  readonly probe: () => Promise<void>;
  /**
   * Milliseconds that a statement may wait for an answer before the probe is sent; also the least time between two
   * probes.
   */
  readonly timeLimit: number;
  /** Milliseconds after which a probe without an answer has failed. Default: no limit. */
  readonly longest?: number;
  /** Called when the probe has failed and no statement was answered meanwhile. */
  readonly onStall: () => void;
  /** Returns true if a failed probe still proves that the server is there, for example because it refused the login. */
  readonly isThere?: (failed: unknown) => boolean;
}

export interface StallDetector {
  /** Runs a statement. Its signal aborts with a DatabaseError (`unavailable`) if the database has stopped answering. */
  during<T>(statement: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Likewise for rows that come in lists. Only the wait for each list counts, not the time that the caller takes with
   * it.
   */
  duringEach<T>(rows: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined>;
}

/** Seconds. */
const RETRY_AFTER = 1;
/** Milliseconds by which a timer may fire early. */
const EARLY = 2;

export function createStallDetector({
  probe,
  timeLimit,
  longest,
  onStall,
  isThere,
}: StallDetectorOptions): StallDetector {
  const waiting = new Map<AbortController, number>();
  let answered = Number.NEGATIVE_INFINITY;
  let looked = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const before = performance.now() - timeLimit + EARLY;
    if ([...waiting.values()].some(since => since <= before)) {
      const begun = performance.now();
      try {
        await (longest === undefined ? probe() : inTime(probe(), longest, noAnswer));
      } catch (failed) {
        // If statements are answered while a probe fails, the server is alive: ending all of them would cause a storm
        // of retries.
        if (answered < begun && isThere?.(failed) !== true) endAll();
      }
      looked = performance.now();
    }
    timer = undefined;
    schedule();
  };

  const endAll = (): void => {
    onStall();
    for (const controller of waiting.keys()) {
      const retryAfter = retryIn(RETRY_AFTER);
      controller.abort(new DatabaseError('unavailable', 'the database does not answer', { retryAfter }));
    }
  };

  const schedule = (): void => {
    if (timer !== undefined || waiting.size === 0) return;
    // The next look is due when the oldest statement has waited for `timeLimit`, and that long after the last look.
    const [oldest = looked] = waiting.values();
    timer = setTimeout(look, Math.max(1, Math.ceil(Math.max(oldest, looked) + timeLimit - performance.now())));
    timer.unref();
  };

  const waitFor = async <T>(answer: Promise<T>, controller: AbortController): Promise<T> => {
    waiting.set(controller, performance.now());
    schedule();
    try {
      const given = await answer;
      answered = performance.now();
      return given;
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

function noAnswer(): never {
  throw new Error('no answer in time');
}
