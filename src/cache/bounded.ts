/**
 * Bounded caches. The only owner of lru-cache.
 */
import { LRUCache } from 'lru-cache';

export interface BoundedCache<V extends object> {
  /** The value of a key, made at most once while it is kept. */
  get(key: string, make: () => V): V;
}

/** Keeps the `entries` most recently used values. */
export function boundedCache<V extends object>(entries: number): BoundedCache<V> {
  const cache = new LRUCache<string, V>({ max: entries });
  return {
    get(key, make) {
      const known = cache.get(key);
      if (known) return known;
      const made = make();
      cache.set(key, made);
      return made;
    },
  };
}
