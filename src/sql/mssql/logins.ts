/**
 * Limits logins to one server, over all pools: two at a time, and after a refused one (usually a wrong password) a
 * growing pause, so that a rotated password does not lock the account. In: a function that logs in. Out: a connection.
 * A pool that still has working connections waits for the end of the pause; any other pool fails at once.
 */
import { setTimeout } from 'node:timers/promises';
import { createBulkhead } from '../bulkhead.ts';
import { LoginFailed, readFailure } from './failure.ts';

export interface Logins {
  /** Logs in. Rejects with LoginFailed. `hasOthers`: returns whether the pool has working connections. */
  logIn<T>(create: () => Promise<T>, said: () => Said | undefined, hasOthers: () => boolean): Promise<T>;
  /** Makes all waiting logins fail. */
  close(): void;
}

/** The server's message during a login, which the driver does not pass on. */
export interface Said {
  readonly number: number;
  readonly state: number;
}

export interface LoginsOptions {
  /** The breaker's pause in milliseconds. */
  readonly pause: number;
  readonly clock?: () => number;
}

/**
 * Pauses after refused logins, in units of the breaker's pause: 10 s, 1 min, 5 min, 15 min. Four attempts in a quarter
 * of an hour lock no account.
 */
const BACK_OFF = [10, 60, 300, 900];
const AT_ONCE = 2;
const NO_LIMIT = 2 ** 31 - 1;

export function createLogins({ pause, clock = () => performance.now() }: LoginsOptions): Logins {
  const places = createBulkhead({ size: AT_ONCE, queue: NO_LIMIT, wait: NO_LIMIT });
  const closing = new AbortController();
  let refusals = 0;
  let next = 0;
  let last: LoginFailed | undefined;

  const refused = (failed: LoginFailed): void => {
    // Concurrent refused logins count once.
    if (clock() >= next) refusals++;
    next = clock() + pause * (BACK_OFF[Math.min(refusals, BACK_OFF.length) - 1] ?? 0);
    last = failed;
  };

  return {
    async logIn(create, said, hasOthers) {
      for (;;) {
        const leave = await places.enter(closing.signal);
        try {
          if (last === undefined || clock() >= next) {
            const connection = await create();
            refusals = 0;
            last = undefined;
            return connection;
          }
        } catch (thrown) {
          const failed = new LoginFailed(thrown, said());
          if (!readFailure(failed).refused) throw failed;
          refused(failed);
        } finally {
          leave();
        }
        if (last !== undefined && !hasOthers()) throw last;
        await setTimeout(Math.max(0, next - clock()), undefined, { signal: closing.signal, ref: false }).catch(() => {
          throw new LoginFailed(new Error('the database was closed'));
        });
      }
    },
    close: () => closing.abort(),
  };
}
