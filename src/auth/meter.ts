/**
 * Limits how often somebody may ask (token bucket). In: a key of who asks. Out: whether the request may go on, or how
 * long to wait. So many requests may come at once, later ones as they are refilled. The number of keys is bounded: who
 * has not asked for longest is forgotten, and begins with a full bucket.
 */
import { type BoundedCache, boundedCache } from '../cache/bounded.ts';

export interface Rate {
  /** Requests that may come at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Meter {
  /** Takes one and gives 0; or takes none, and gives the milliseconds until there is one. */
  take(): number;
  /** Takes more for what was done already, also where there is none left: requests to come wait for it. */
  charge(count: number): void;
}

/** Who asks, by key. */
export type Meters = (key: string) => Meter;

/** Keys that are remembered. */
const REMEMBERED = 10_000;

/** `clock`: milliseconds that never go back. */
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

/** A client may send the requests of a minute at once. */
export function perMinute(requests: number): Rate {
  return { burst: requests, perSecond: requests / 60 };
}
