/**
 * Ends statements that compute for too long. SQLite runs on the server's own thread and cannot be interrupted from
 * there, but it calls our functions (look.ts and comparisons of texts), which can throw. In: milliseconds. Out: the
 * start of a statement, and the check that the functions call.
 */
import { performance } from 'node:perf_hooks';
import { DatabaseError, TOO_LONG } from '../database.ts';

export interface Limit {
  /**
   * A statement begins at `now`, as performance.now() has it. `until`: when nobody waits for it any more, at the
   * latest; undefined: somebody waits as long as it takes.
   */
  begin(until: number | undefined, now: number): void;
  /** Throws DatabaseError `unavailable` once the statement has taken too long. */
  look(): void;
  /** Likewise for what is called thousands of times at once: it looks at some calls. */
  check(): void;
}

/** Calls between two looks at the clock, which take longer than a call. */
const CALLS = 1000;

export function createLimit(milliseconds: number): Limit {
  let ends = Number.POSITIVE_INFINITY;
  let calls = 0;
  const look = (): void => {
    if (performance.now() > ends)
      throw new DatabaseError('unavailable', 'the statement took too long and was ended', {
        retryAfter: 5,
        told: TOO_LONG,
      });
  };
  return {
    begin(until, now) {
      ends = until === undefined ? Number.POSITIVE_INFINITY : Math.min(until, now + milliseconds);
      calls = 0;
    },
    look,
    check() {
      if (++calls % CALLS === 0) look();
    },
  };
}

/** For connections that answer nobody who waits. */
export const NO_LIMIT: Pick<Limit, 'look' | 'check'> = { look() {}, check() {} };
