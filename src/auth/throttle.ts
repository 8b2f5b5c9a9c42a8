/**
 * Slows down password guessing. In: keys of an attempt (account, address). Out: how long to wait. The first failures
 * cost nothing, each further one doubles the wait, and a key is forgotten after some time without failure. An attempt
 * counts as failed from its start, so that parallel attempts gain nothing.
 */

export interface ThrottleLimits {
  /** Failures without a wait. */
  readonly free: number;
  /** Milliseconds: the first wait, and the longest. */
  readonly first: number;
  readonly longest: number;
  /** Maximum number of keys; beyond that, those without a recent attempt are forgotten. */
  readonly keys: number;
}

export interface Throttle {
  /** Returns the milliseconds until the next attempt may begin. Records nothing. */
  waitOf(key: string): number;
  /** Begins an attempt, which counts as failed. */
  begin(key: string): void;
  /** Returns the failures that count now. */
  failures(key: string): number;
  /** Forgets all failures of the key, after a successful attempt. */
  forgive(key: string): void;
  /** Removes this attempt from the failures of the key, after it succeeded. */
  undo(key: string): void;
}

interface Attempts {
  readonly failures: number;
  readonly last: number;
}

/**
 * Makes a throttle. `clock`: milliseconds of a monotonic clock. Stores keys unchanged; the caller bounds their length.
 */
export function createThrottle(limits: ThrottleLimits, clock: () => number = () => performance.now()): Throttle {
  const attempts = new Map<string, Attempts>();

  const waitAfter = (failures: number): number =>
    failures < limits.free ? 0 : Math.min(limits.first * 2 ** (failures - limits.free), limits.longest);

  /** Returns the failures of a key, which starts again after twice the longest wait without a failure. */
  const known = (key: string): Attempts | undefined => {
    const kept = attempts.get(key);
    return kept === undefined || clock() - kept.last > 2 * limits.longest ? undefined : kept;
  };

  return {
    waitOf(key) {
      const before = known(key);
      return before === undefined ? 0 : Math.max(0, before.last + waitAfter(before.failures) - clock());
    },
    begin(key) {
      const failures = (known(key)?.failures ?? 0) + 1;
      attempts.delete(key);
      attempts.set(key, { failures, last: clock() });
      for (const oldest of attempts.keys()) {
        if (attempts.size <= limits.keys) break;
        attempts.delete(oldest);
      }
    },
    failures: key => known(key)?.failures ?? 0,
    forgive(key) {
      attempts.delete(key);
    },
    undo(key) {
      const kept = attempts.get(key);
      if (kept !== undefined) attempts.set(key, { ...kept, failures: Math.max(0, kept.failures - 1) });
    },
  };
}

/**
 * Groups IP addresses by customer. In: an address as a socket has it. Out: a key. For IPv6 it is the first 64 bits,
 * because a provider gives each customer at least such a block; for IPv4, mapped or not, the address itself; for
 * anything else at most 64 characters. RFC 6177, RFC 4291 section 2.2
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address.slice(0, 64);
  const [front = '', back] = (address.split('%')[0] ?? '').split('::');
  const before = front === '' ? [] : front.split(':');
  const after = back === undefined || back === '' ? [] : back.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = [...before, ...zeros, ...after];
  return groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':');
}
