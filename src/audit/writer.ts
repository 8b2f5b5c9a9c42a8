/**
 * Writes the audit by group commit: records that arrive while a list is being written go into the next one, so that all
 * of them wait for the disk only once. In: records. Out: a promise that each is written.
 */
import { Worker } from 'node:worker_threads';
import type { AuditRecord } from './record.ts';
import type { FromWriter, ToWriter, WriterData } from './worker.ts';

/** The audit cannot be written. Holds no value of a request. */
export class AuditError extends Error {
  override readonly name = 'AuditError';
  readonly full: boolean;
  /** Error code of SQLite or the system. */
  readonly code: string;
  /** The file, if it could not be opened. */
  readonly file: string | undefined;

  constructor(full: boolean, code: string, file?: string) {
    super(full ? 'The audit store is full' : `The audit store cannot be written (${code})`);
    this.full = full;
    this.code = code;
    this.file = file;
  }
}

export interface WriterLoad {
  /** Number of records on their way. */
  readonly waiting: number;
  /** Bytes of the file in use, and their maximum. */
  readonly used: number;
  readonly bytes: number;
}

export interface AuditWriter {
  /** Resolves when the record is written. Rejects with AuditError. */
  write(record: AuditRecord): Promise<void>;
  load(): WriterLoad;
  /** Writes all waiting records, then ends the thread. */
  close(): Promise<void>;
}

interface Waiting {
  readonly record: AuditRecord;
  readonly resolve: () => void;
  readonly reject: (error: AuditError) => void;
}

/** Maximum records of one transaction. */
const LIST = 1000;
/** Maximum waiting records; further ones are refused, because a hanging disk must not fill the memory. */
const QUEUE = 20_000;
/**
 * Maximum characters of all waiting records, because a request may have a body of 256 kB; and of one transaction, which
 * the thread holds.
 */
const QUEUE_LENGTH = 64_000_000;
const LIST_LENGTH = 16_000_000;
/** Milliseconds after which the disk counts as hanging. */
const TIME_LIMIT = 15_000;
/** A small heap is enough: the thread holds one list at a time. */
const RESOURCES = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 } as const;

/** Starts the thread. Rejects with AuditError if the file cannot be opened. */
export async function openWriter(data: WriterData, timeLimit = TIME_LIMIT): Promise<AuditWriter> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: data, resourceLimits: RESOURCES });
  let used = 0;
  let ended: AuditError | undefined;
  let queue: Waiting[] = [];
  let flying: readonly Waiting[] = [];
  /** Characters of `queue` and `flying`. */
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  let closing: (() => void) | undefined;
  const opened = Promise.withResolvers<void>();

  const fail = (list: readonly Waiting[], error: AuditError): void => {
    for (const { reject } of list) reject(error);
  };
  const send = (): void => {
    if (flying.length > 0) return;
    if (queue.length === 0) {
      // Does not keep the process alive, even if the writer is not closed.
      worker.unref();
      closing?.();
      return;
    }
    const next = nextList(queue);
    flying = queue.slice(0, next);
    queue = queue.slice(next);
    worker.ref();
    timer = setTimeout(() => stop(new AuditError(false, 'ETIMEDOUT')), timeLimit);
    // One string is copied in a quarter of the time that the objects take.
    worker.postMessage(JSON.stringify(flying.map(({ record }) => record)) satisfies ToWriter);
  };
  const landed = (done: (list: readonly Waiting[]) => void): void => {
    clearTimeout(timer);
    const list = flying;
    flying = [];
    for (const { record } of list) length -= lengthOf(record);
    done(list);
    send();
  };
  /** Fails all records, now and later, because the thread is lost. */
  const stop = (error: AuditError): void => {
    if (ended !== undefined) return;
    ended = error;
    clearTimeout(timer);
    const lost = [...flying, ...queue];
    flying = [];
    queue = [];
    fail(lost, error);
    opened.reject(error);
    closing?.();
    void worker.terminate();
  };

  worker.on('message', (message: FromWriter) => {
    switch (message.kind) {
      case 'open':
        return opened.resolve();
      case 'written':
        used = message.used;
        return landed(list => {
          for (const { resolve } of list) resolve();
        });
      case 'failed': {
        const error = new AuditError(message.full, message.code);
        opened.reject(new AuditError(message.full, message.code, data.path));
        return landed(list => fail(list, error));
      }
    }
  });
  worker.on('error', () => stop(new AuditError(false, 'thread')));
  worker.on('exit', () => stop(new AuditError(false, 'thread')));

  try {
    await opened.promise;
    worker.unref();
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return {
    write(record) {
      if (ended !== undefined) return Promise.reject(ended);
      if (queue.length >= QUEUE || length >= QUEUE_LENGTH) return Promise.reject(new AuditError(true, 'queue'));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ record, resolve, reject });
      length += lengthOf(record);
      // Records of the same turn of the event loop go together.
      if (queue.length === 1 && flying.length === 0) setImmediate(send);
      return promise;
    },
    load: () => ({ waiting: queue.length + flying.length, used, bytes: data.bytes }),
    async close() {
      await new Promise<void>(resolve => {
        closing = resolve;
        send();
      });
      if (ended !== undefined) return;
      ended = new AuditError(false, 'closed');
      const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
      worker.ref();
      worker.postMessage('end' satisfies ToWriter);
      await exited;
    },
  };
}

/** Returns the length of the parts that may be long. */
function lengthOf({ query, patients }: AuditRecord): number {
  return query.length + patients.reduce((sum, id) => sum + id.length, 0);
}

/** Returns the number of records for the next list. */
function nextList(queue: readonly Waiting[]): number {
  let length = 0;
  const end = queue.slice(0, LIST).findIndex(({ record }) => {
    length += lengthOf(record);
    return length >= LIST_LENGTH;
  });
  return end === -1 ? LIST : end + 1;
}
