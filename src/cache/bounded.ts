/**
 * Makes caches with a bound: by number of entries, or by bytes. The least recently used entry goes first. No other
 * file imports lru-cache.
 */
import { LRUCache } from 'lru-cache';

export interface BoundedCache<V extends object> {
  /** The value of a key, made at most once while it is kept. */
  get(key: string, make: () => V): V;
  /** Counts as a use. */
  find(key: string): V | undefined;
  keep(key: string, value: V): void;
}

/** Characters of a key, on the average of a full cache: longer keys leave room for fewer. */
const KEY = 500;

/** Characters of all keys that any cache may keep. */
const LEAST = 50_000;

/** A bound on the sum of weights; `weigh` is called when a value is kept. */
export interface Weights<V> {
  readonly most: number;
  readonly weigh: (value: V) => number;
}

/**
 * Keeps the `entries` most recently used values, as long as their keys are not too long together: clients may choose
 * them. With `weights`, values too are not too heavy together.
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
  // The same is mostly asked for many times in a row, and has no place to move to.
  let newest: { readonly key: string; readonly value: V } | undefined;
  const keep = (key: string, value: V): void => {
    cache.set(key, value);
    newest = { key, value };
  };
  const find = (key: string): V | undefined => {
    if (newest?.key === key) return newest.value;
    const value = cache.get(key);
    if (value) newest = { key, value };
    return value;
  };
  return {
    get(key, make) {
      const known = find(key);
      if (known) return known;
      const made = make();
      keep(key, made);
      return made;
    },
    find,
    keep,
  };
}

export interface WeighedCache<V extends object> {
  /** Counts as a use. */
  find(key: string): V | undefined;
  /** `bytes` is all that the value holds. Keeps nothing and says false where that is more than one value may have. */
  keep(key: string, value: V, bytes: number): boolean;
  /** Does not count as a use. */
  peek(key: string): V | undefined;
  drop(key: string): void;
  /** Drops all; none counts as evicted. */
  clear(): void;
  size(): { readonly entries: number; readonly bytes: number };
}

/**
 * Estimated bytes of an entry beside those of its value: the list, objects around the bytes, heads of responses.
 */
const OVERHEAD = 2000;

/** The largest share of all bytes that one value may take: a few large answers must not push out all others. */
const SHARE_OF_ONE = 1 / 8;

/** Keeps the most recently used values up to `bytes` in all. `onEvicted` is told of each that had to make room. */
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
