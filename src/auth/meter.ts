/**
 * Limits the request rate of a client (token bucket). In: a key of the client. Out: whether the request may proceed, or
 * how long to wait. A number of requests may come at once, later ones at the rate of refilling. The number of keys is
 * bounded: the client that has been silent for longest is forgotten, and begins with a full bucket.
 */
import { type BoundedCache, boundedCache } from '../common/caches.ts';

export interface Rate {
  /** Maximum number of requests at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Meter {
  /** Takes a token and returns 0; or takes none, and returns the milliseconds until there is one. */
  take(): number;
  /** Takes further tokens for work already done, even if none are left: later requests wait for them. */
  charge(count: number): void;
}

/** Returns the meter of a client by key. */
export type Meters = (key: string) => Meter;

/** Maximum number of keys. */
const REMEMBERED = 10_000;

/** Makes meters with the same rate. `clock`: milliseconds of a monotonic clock. */
export function createMeters({ burst, perSecond }: Rate, clock: () => number = () => performance.now()): Meters {
  const meters: BoundedCache<Meter> = boundedCache(REMEMBERED);
  const make = (): Meter => {
    let left = burst;
    let at = clock();
    const refill = (): void => {
      const now = clock();
      left = Math.min(burst, left + ((now - at) / 1000) * perSecond);
      at = now;
    };
    return {
      take() {
        refill();
        if (left < 1) return ((1 - left) / perSecond) * 1000;
        left--;
        return 0;
      },
      charge(count) {
        if (count === 0) return;
        refill();
        left = Math.max(-burst, left - count);
      },
    };
  };
  return key => meters.get(key, make);
}

/** Returns a rate at which a client may send the requests of a minute at once. */
export function perMinute(requests: number): Rate {
  return { burst: requests, perSecond: requests / 60 };
}
