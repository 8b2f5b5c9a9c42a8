/**
 * Makes caches: bounded by number of entries or by bytes, where the least recently used entry is evicted first; and
 * results of a function, cached as long as its argument lives. No other file imports lru-cache.
 */
import { LRUCache } from 'lru-cache';

/** Returns the value of a key; makes and stores it if there is none, as `Map.prototype.getOrInsertComputed` will. */
export function getOrInsert<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Returns a function that computes its result once per argument, and caches it as long as the argument lives. */
export function memoized<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const results = new WeakMap<K, V>();
  // Not by getOrInsert, which would allocate a closure for each call on the path of every request.
  return of => {
    const known = results.get(of);
    if (known !== undefined) return known;
    const made = make(of);
    results.set(of, made);
    return made;
  };
}

export interface BoundedCache<V extends object> {
  /** Returns the value of a key; makes it if it is not cached. */
  get(key: string, make: () => V): V;
  /** Counts as a use. */
  find(key: string): V | undefined;
  keep(key: string, value: V): void;
}

/** Characters of a key that a full cache has room for on average; longer keys leave room for fewer. */
const KEY = 500;

/** Characters of keys that every cache has room for. */
const LEAST = 50_000;

/** A bound on the sum of weights; `weigh` is called when a value is stored. */
export interface Weights<V> {
  readonly most: number;
  readonly weigh: (value: V) => number;
}

/**
 * Keeps the `entries` most recently used values, within a bound on the length of all keys, because clients may choose
 * them. `weights` bounds the sum of the values' weights too.
 */
export function boundedCache<V extends object>(
  entries: number,
  { key = KEY, weights }: { readonly key?: number; readonly weights?: Weights<V> } = {},
): BoundedCache<V> {
  const cache = new LRUCache<string, V>({
    max: entries,
    maxSize: Math.max(entries * key, LEAST) + (weights?.most ?? 0),
    sizeCalculation: (value, { length }) => length + 1 + (weights?.weigh(value) ?? 0),
  });
  return {
    get: (key, make) => getOrInsert<string, V>(cache, key, make),
    find: key => cache.get(key),
    keep: (key, value) => void cache.set(key, value),
  };
}

export interface WeighedCache<V extends object> {
  /** Counts as a use. */
  find(key: string): V | undefined;
  /** Stores a value. `bytes`: everything that it holds. False: it is too large for one value, and not stored. */
  keep(key: string, value: V, bytes: number): boolean;
  /** Does not count as a use. */
  peek(key: string): V | undefined;
  drop(key: string): void;
  /** Drops all entries; they do not count as evicted. */
  clear(): void;
  size(): { readonly entries: number; readonly bytes: number };
}

/** Estimated bytes of an entry besides its value: the list, objects around the bytes, heads of responses. */
const OVERHEAD = 2000;

/** The largest share of all bytes that one value may take, so that a few large answers do not evict all others. */
const SHARE_OF_ONE = 1 / 8;

/** Keeps the most recently used values, up to `bytes` in total. Calls `onEvicted` for each evicted value. */
export function weighedCache<V extends object>(bytes: number, onEvicted: () => void): WeighedCache<V> {
  const most = Math.floor(bytes * SHARE_OF_ONE);
  const cache = new LRUCache<string, V>({
    maxSize: bytes,
    disposeAfter: (_value, _key, reason) => {
      if (reason === 'evict') onEvicted();
    },
  });
  const weightOf = (key: string, own: number): number => own + key.length * 2 + OVERHEAD;
  return {
    find: key => cache.get(key),
    keep(key, value, own) {
      cache.delete(key);
      const weight = weightOf(key, own);
      if (weight > most) return false;
      cache.set(key, value, { size: weight });
      return true;
    },
    peek: key => cache.peek(key),
    drop: key => void cache.delete(key),
    clear: () => cache.clear(),
    size: () => ({ entries: cache.size, bytes: cache.calculatedSize }),
  };
}
