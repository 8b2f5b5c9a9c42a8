/**
 * Slows down whoever guesses passwords. In: keys of an attempt (its account, its address). Out: how long to wait. The first
 * failures are free, each further one doubles the wait; a key is forgotten after a while without failure. An attempt counts
 * as failed from when it begins, so that many at once are no way around.
 */

export interface ThrottleLimits {
  /** Failures that cost nothing. */
  readonly free: number;
  /** Milliseconds: the first wait, and the longest. */
  readonly first: number;
  readonly longest: number;
  /** Keys that are kept; beyond, those without a recent attempt are forgotten. */
  readonly keys: number;
}

export interface Throttle {
  /** Milliseconds until the next attempt may begin; 0: it has begun and counts as failed. */
  begin(key: string): number;
  /** It was right: all that was held against the key is forgotten. */
  forgive(key: string): void;
  /** It was right: this attempt does not count against the key. */
  undo(key: string): void;
}

interface Attempts {
  readonly failures: number;
  readonly last: number;
}

/** `clock`: milliseconds since the epoch. */
export function createThrottle(limits: ThrottleLimits, clock: () => number = Date.now): Throttle {
  const attempts = new Map<string, Attempts>();

  const waitAfter = (failures: number): number =>
    failures < limits.free ? 0 : Math.min(limits.first * 2 ** (failures - limits.free), limits.longest);

  return {
    begin(key) {
      const now = clock();
      const before = attempts.get(key);
      // Twice the longest wait without a failure: a new beginning.
      const known = before === undefined || now - before.last > 2 * limits.longest ? undefined : before;
      const wait = known === undefined ? 0 : known.last + waitAfter(known.failures) - now;
      if (wait > 0) return wait;
      attempts.delete(key);
      attempts.set(key, { failures: (known?.failures ?? 0) + 1, last: now });
      for (const oldest of attempts.keys()) {
        if (attempts.size <= limits.keys) break;
        attempts.delete(oldest);
      }
      return 0;
    },
    forgive(key) {
      attempts.delete(key);
    },
    undo(key) {
      const known = attempts.get(key);
      if (known !== undefined) attempts.set(key, { ...known, failures: Math.max(0, known.failures - 1) });
    },
  };
}
