/**
 * A pool that comes and goes with the database, and statements on it. In: a SELECT with its parameters. Out: rows as
 * arrays, taken as they arrive. A statement that is cancelled or takes too long is stopped on the server.
 */
import type sql from 'mssql';
import { DatabaseError } from '../database.ts';
import type { Row, Statement } from '../plan.ts';
import { bindParameter } from './bind.ts';

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Called once the connection is free again, which may be after the result was given up. */
  readonly onFree?: () => void;
}

export interface Source {
  /** Rejects with an error of the driver, or with a DatabaseError where the caller or the clock gave up. */
  run(statement: Statement, options: RunOptions): Promise<readonly Row[]>;
  /** Rows in lists of `size`, the last one shorter; rejects as `run`. Whoever stops taking them cancels the statement. */
  stream(statement: Statement, size: number, options: RunOptions): AsyncGenerator<readonly Row[], void, undefined>;
  /** Whoever asks from now on has a connection that `open` gives anew. */
  renew(): void;
  close(): Promise<void>;
}

/** Whatever else than one SELECT reaches this place is a mistake of this process. Literals and names may hold anything. */
function isOneSelect(text: string): boolean {
  const outside = text.replace(/'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]/g, '');
  return /^SELECT\s/.test(outside) && !/;|--|\/\*|\bINTO\b/i.test(outside);
}

/** `open` gives a pool that is not connected; it is asked again after a failure. */
export function createSource(open: () => sql.ConnectionPool): Source {
  let pool: Promise<sql.ConnectionPool> | undefined;
  /** Still used by those who began with them; their connections end when they have been idle for a while. */
  const former: Promise<sql.ConnectionPool>[] = [];

  /** The driver's pool begins with a login; while that fails there is none. */
  const connected = (): Promise<sql.ConnectionPool> => {
    const found =
      pool ??
      open()
        .connect()
        .catch(error => {
          pool = undefined;
          throw error;
        });
    pool = found;
    return found;
  };

  const requestFor = async ({ text }: Statement, onFree?: () => void): Promise<sql.Request> => {
    try {
      if (!isOneSelect(text)) throw new TypeError('only a SELECT is ever sent');
      return (await connected()).request();
    } catch (error) {
      onFree?.();
      throw error;
    }
  };

  return {
    async run(statement, options) {
      const request = await requestFor(statement, options.onFree);
      const rows: Row[] = [];
      await send(request, statement, options, row => rows.push(row));
      return rows;
    },
    async *stream(statement, size, options) {
      const request = await requestFor(statement, options.onFree);
      yield* listsOf(request, size, (onRow, left) => {
        const signal = options.signal ? AbortSignal.any([options.signal, left]) : left;
        return send(request, statement, { ...options, signal }, onRow);
      });
    },
    renew() {
      if (pool) former.push(pool);
      pool = undefined;
    },
    async close() {
      const opened = [...former.splice(0), ...(pool ? [pool] : [])];
      pool = undefined;
      // Where it never opened there is nothing to close.
      await Promise.all(opened.map(async one => (await one.catch(() => undefined))?.close()));
    },
  };
}

/** Sends a statement and tells its rows one by one; rejects once it has failed or was given up. */
function send(
  request: sql.Request,
  { text, parameters }: Statement,
  { signal, timeout, onFree }: RunOptions,
  onRow: (row: Row) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      onFree?.();
      reject(cancelled());
      return;
    }
    let failed: unknown;
    const giveUp = (reason: DatabaseError): void => {
      request.cancel();
      settle();
      reject(reason);
    };
    const abort = (): void => giveUp(signal?.reason instanceof DatabaseError ? signal.reason : cancelled());
    const timer = setTimeout(() => giveUp(tooLong()), timeout);
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    signal?.addEventListener('abort', abort, { once: true });
    request.stream = true;
    request.on('row', onRow);
    request.on('error', error => {
      failed ??= error;
    });
    request.on('done', () => {
      settle();
      onFree?.();
      if (failed === undefined) resolve();
      else reject(failed);
    });
    try {
      for (const parameter of parameters) {
        const { type, value } = bindParameter(parameter);
        request.input(parameter.name, type, value);
      }
    } catch (error) {
      settle();
      onFree?.();
      reject(error);
      return;
    }
    request.query(text, () => undefined);
  });
}

/** One list is taken while the next arrives; with that, the connection is read no further. */
async function* listsOf(
  request: sql.Request,
  size: number,
  begin: (onRow: (row: Row) => void, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<readonly Row[], void, undefined> {
  const full: (readonly Row[])[] = [];
  let arriving: Row[] = [];
  let more = Promise.withResolvers<void>();
  let ended = false;
  const left = new AbortController();
  const end = begin(row => {
    arriving.push(row);
    if (arriving.length < size) return;
    full.push(arriving);
    arriving = [];
    request.pause();
    more.resolve();
  }, left.signal).finally(() => {
    ended = true;
    more.resolve();
  });
  // A failure is told where the lists are taken.
  end.catch(() => undefined);
  try {
    for (;;) {
      const next = full.shift();
      if (next) {
        if (full.length === 0) request.resume();
        yield next;
        continue;
      }
      if (ended) break;
      await more.promise;
      more = Promise.withResolvers<void>();
    }
    await end;
    if (arriving.length > 0) yield arriving;
  } finally {
    if (!ended) left.abort();
  }
}

function cancelled(): DatabaseError {
  return new DatabaseError('cancelled', 'the query was cancelled');
}

function tooLong(): DatabaseError {
  return new DatabaseError('unavailable', 'the statement took too long and was cancelled', { retryAfter: 5 });
}
