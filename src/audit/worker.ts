/**
 * Writes the audit in a thread of its own, so that nothing else waits for the disk. In: lists of records. Out: for each
 * list, in order, that it is written, or why not. If the file could not be opened, the next list tries again.
 */
import { fdatasync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../common/reason.ts';
import type { AuditRecord } from './record.ts';
import { settledClock } from './settled-clock.ts';
import { type AuditStore, openStore, type StoreOptions } from './store.ts';

export interface WriterData extends StoreOptions {
  readonly bytes: number;
  /** Milliseconds for which records are kept. */
  readonly keep: number;
}

/** `end`, or a list of AuditRecord as JSON. */
export type ToWriter = string;

/** `used`: bytes. `full`: the file has reached its maximum, or the disk is full. */
export type FromWriter =
  | { readonly kind: 'open' }
  | { readonly kind: 'written'; readonly used: number }
  | { readonly kind: 'failed'; readonly full: boolean; readonly code: string };

/** Milliseconds between two sweeps of expired records, and the maximum number removed at once. */
const SWEEP = 60_000;
const SWEPT = 2000;
/** Milliseconds after which written data is flushed to the disk. */
const TO_DISK = 1000;
/** Lists between two measurements of the size. */
const MEASURED = 100;
/** Share of the bytes above which expired records are removed even if the clock was set. */
const CROWDED = 0.8;

const { keep, ...options } = workerData as WriterData;
const port = parentPort;
if (port === null) throw new Error('This is the thread of the audit');

let store: AuditStore | undefined;
let used = 0;
let lists = 0;
let swept = Number.NEGATIVE_INFINITY;
const isSettled = settledClock();

const post = (message: FromWriter): void => port.postMessage(message);

/** Removes expired records. */
function sweep(kept: AuditStore): void {
  const now = performance.now();
  if (now - swept < SWEEP || !(isSettled() || kept.used() > CROWDED * options.bytes)) return;
  // If there may be more, the next list continues.
  if (kept.expire(Date.now() - keep, SWEPT) < SWEPT) swept = now;
}

let log: number | undefined;
let syncing = false;
let unsynced: Error | undefined;

/**
 * Flushes soon, because a power cut loses what was written since; SQLite itself waits for the disk only when it empties
 * its log.
 */
function syncSoon(): void {
  if (options.survives === 'power' || syncing) return;
  log ??= openSync(`${options.path}-wal`, 'r');
  const descriptor = log;
  syncing = true;
  setTimeout(() => {
    fdatasync(descriptor, error => {
      syncing = false;
      unsynced = error ?? undefined;
    });
  }, TO_DISK).unref();
}

function attempt(work: (kept: AuditStore) => FromWriter): void {
  try {
    store ??= openStore(options);
    post(work(store));
  } catch (error) {
    post({ kind: 'failed', ...reasonOf(error) });
  }
}

port.on('message', (message: ToWriter) => {
  if (message === 'end') {
    store?.close();
    port.close();
    return;
  }
  attempt(kept => {
    const failed = unsynced;
    unsynced = undefined;
    if (failed !== undefined) throw failed;
    sweep(kept);
    kept.append(JSON.parse(message) as readonly AuditRecord[]);
    syncSoon();
    if (lists++ % MEASURED === 0) used = kept.used();
    return { kind: 'written', used };
  });
});

attempt(() => ({ kind: 'open' }));
