/**
 * Limits how many statements run at a time, so that a slow database or table cannot take every connection. In: how many
 * may run, how many may wait, and how long. Out: `enter`, which waits for a slot and returns the function that frees
 * it. If the queue is full, `enter` refuses at once. Waiting statements are served first in, first out, except those
 * whose tables already use their share of the slots.
 */
import { enqueue, type Queue } from '../common/waiting.ts';
import { type BulkheadLoad, cancelled, DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface BulkheadOptions {
  readonly size: number;
  readonly queue: number;
  /** Milliseconds. */
  readonly wait: number;
}

export interface Bulkhead {
  /**
   * Waits for a slot. Resolves to the function that frees it; calling it again does nothing. Throws DatabaseError:
   * `unavailable` if the queue is full or the wait too long, `cancelled` by the signal. `tables`: those that the
   * statement reads. Each table has at most three quarters of the slots and of the queue, so that a locked table leaves
   * some to others.
   */
  enter(signal?: AbortSignal, tables?: readonly string[]): Promise<() => void>;
  load(): BulkheadLoad;
}

/** Seconds: a slot becomes free within the time of a statement. */
const RETRY_AFTER = 1;

export function createBulkhead({ size, queue, wait }: BulkheadOptions): Bulkhead {
  const waiting: Queue<readonly string[]> = new Map();
  const running = createShares(shareOf(size));
  const queued = createShares(shareOf(queue));
  let taken = 0;
  let refused = 0;

  const take = (tables: readonly string[]): (() => void) => {
    taken++;
    running.add(tables);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      taken--;
      running.remove(tables);
      for (const [admit, of] of waiting) {
        if (taken >= size) return;
        if (running.hasRoom(of)) admit();
      }
    };
  };

  return {
    load: () => ({ size, taken, waiting: waiting.size, refused }),
    enter(signal, tables = []) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(cancelled());
        if (taken < size && running.hasRoom(tables)) return resolve(take(tables));
        const refuse = (message: string): void => {
          refused++;
          reject(new DatabaseError('unavailable', message, { retryAfter: retryIn(RETRY_AFTER), publicText: BUSY }));
        };
        if (waiting.size >= queue || !queued.hasRoom(tables))
          return refuse('too many statements wait for the database');
        const settled = (go: () => void) => (): void => {
          queued.remove(tables);
          go();
        };
        queued.add(tables);
        enqueue(waiting, {
          ...{ of: tables, milliseconds: wait, signal },
          admitted: settled(() => resolve(take(tables))),
          late: settled(() => refuse('no connection to the database became free in time')),
          aborted: settled(() => reject(cancelled())),
        });
      });
    },
  };
}

const BUSY = 'The database has too much to do';

/** Returns a table's share: all but a quarter; all if there are few. */
function shareOf(size: number): number {
  return size - Math.floor(size / 4);
}

interface Shares {
  hasRoom(tables: readonly string[]): boolean;
  add(tables: readonly string[]): void;
  remove(tables: readonly string[]): void;
}

/** Counts by table; forgets tables whose count is zero. */
function createShares(most: number): Shares {
  const counts = new Map<string, number>();
  const change = (tables: readonly string[], by: number): void => {
    for (const table of tables) {
      const count = (counts.get(table) ?? 0) + by;
      if (count > 0) counts.set(table, count);
      else counts.delete(table);
    }
  };
  return {
    hasRoom: tables => tables.every(table => (counts.get(table) ?? 0) < most),
    add: tables => change(tables, 1),
    remove: tables => change(tables, -1),
  };
}
