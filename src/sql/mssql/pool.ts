/**
 * Runs statements on a pool that opens and closes with the database. In: a SELECT with its parameters. Out: rows as
 * arrays, as they arrive. A statement that is cancelled or takes too long is stopped on the server.
 */

import type sql from 'mssql';
import { cancelled, DatabaseError, TOO_LONG } from '../database.ts';
import type { Row, Statement } from '../plan.ts';
import type { ByteLimit } from '../row-limits.ts';
import { bindParameter } from './bind.ts';
import { connectionsOf } from './connection.ts';
import { readFailure } from './failure.ts';

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** Called when the connection is free again, possibly after the result was given up. */
  readonly onFree?: () => void;
  /** As in QueryOptions. */
  readonly bytes?: ByteLimit | undefined;
}

export interface Source {
  /**
   * Runs a statement. Rejects with an error of the driver, or with a DatabaseError if it was cancelled or timed out.
   */
  run(statement: Statement, options: RunOptions): Promise<readonly Row[]>;
  /**
   * Yields rows in lists of `size`, the last one shorter; rejects like `run`. Ending the iteration cancels the
   * statement.
   */
  stream(statement: Statement, size: number, options: RunOptions): AsyncGenerator<readonly Row[], void, undefined>;
  /** Returns the number of open connections. */
  connections(): number;
  /** Makes all later statements use a new pool from `open`. */
  renew(): void;
  close(): Promise<void>;
}

/** True if the text is one SELECT; anything else is a bug in this process. Literals and names may contain any text. */
function isOneSelect(text: string): boolean {
  const outside = text.replace(/'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]/g, '');
  return /^SELECT\s/.test(outside) && !/;|--|\/\*|\bINTO\b/i.test(outside);
}

/** A pool, and the number of its running statements. */
interface Held {
  readonly pool: Promise<sql.ConnectionPool>;
  opened?: sql.ConnectionPool;
  users: number;
  /** True if it is to be closed when its last statement ends. */
  former: boolean;
}

/**
 * Creates a source. `open` returns a pool that is not connected; it is called again after a failure. After a lost
 * connection all others of the pool are suspect, so the next statement gets a new pool.
 */
export function createSource(open: () => sql.ConnectionPool): Source {
  let held: Held | undefined;
  const closing = new Set<Promise<unknown>>();

  /** Returns the current pool. The driver's pool starts with a login; if that fails, there is no pool. */
  const enter = (): Held => {
    if (held !== undefined) {
      held.users++;
      return held;
    }
    const opened: Held = { pool: open().connect(), users: 1, former: false };
    opened.pool.then(
      pool => {
        opened.opened = pool;
      },
      () => {
        if (held === opened) held = undefined;
      },
    );
    held = opened;
    return opened;
  };

  const closePool = (of: Held): Promise<unknown> => {
    // A pool that never opened need not be closed.
    const closed: Promise<unknown> = of.pool.then(pool => pool.close()).catch(() => undefined);
    closing.add(closed);
    return closed.finally(() => closing.delete(closed));
  };

  const retire = (of: Held): void => {
    if (held === of) held = undefined;
    if (of.former) return;
    of.former = true;
    if (of.users === 0) void closePool(of);
  };

  const leave = (of: Held): void => {
    of.users--;
    if (of.former && of.users === 0) void closePool(of);
  };

  /** Calls `use` with a request, and frees the connection however it ends. */
  const withRequest = async <T>(
    { text }: Statement,
    options: RunOptions,
    use: (request: sql.Request, options: RunOptions) => Promise<T>,
  ): Promise<T> => {
    if (!isOneSelect(text)) {
      options.onFree?.();
      throw new TypeError('only a SELECT is ever sent');
    }
    const mine = enter();
    const onFree = once(() => {
      leave(mine);
      options.onFree?.();
    });
    try {
      const pool = await mine.pool;
      return await use(pool.request(), { ...options, onFree });
    } catch (error) {
      if (readFailure(error).lost) retire(mine);
      // Once the pool is open, the driver reports when the connection is free.
      if (mine.opened === undefined) onFree();
      throw error;
    }
  };

  return {
    run: (statement, options) =>
      withRequest(statement, options, async (request, given) => {
        const rows: Row[] = [];
        const { bytes } = given;
        bytes?.begin();
        const stop = once(() => request.cancel());
        const take = (row: Row): void => {
          if (bytes === undefined || bytes.takes(row)) rows.push(row);
          else stop();
        };
        await send(request, statement, given, take).catch((error: unknown) => {
          // The statement was cancelled because it has enough rows.
          if (bytes?.reached !== true || given.signal?.aborted === true) throw error;
        });
        return rows;
      }),
    async *stream(statement, size, options) {
      yield* listsOf(size, options.bytes, (start, left) =>
        withRequest(statement, options, (request, given) => {
          const signal = given.signal ? AbortSignal.any([given.signal, left]) : left;
          return send(request, statement, { ...given, signal }, start(request));
        }),
      );
    },
    connections: () => (held?.opened === undefined ? 0 : connectionsOf(held.opened)),
    renew() {
      if (held) retire(held);
    },
    async close() {
      if (held) {
        const last = held;
        held = undefined;
        last.former = true;
        await closePool(last);
      }
      await Promise.all(closing);
    },
  };
}

function once(call: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    call();
  };
}

/** Sends a statement and passes on its rows one by one; rejects if it failed or was given up. */
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

/**
 * Yields lists of rows: the caller processes one while the next arrives, and the connection is not read further. A list
 * ends early when it reaches `bytes`. `begin` gets a function that makes the row handler of a request.
 */
async function* listsOf(
  size: number,
  bytes: ByteLimit | undefined,
  begin: (start: (request: sql.Request) => (row: Row) => void, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<readonly Row[], void, undefined> {
  const full: (readonly Row[])[] = [];
  let asked: sql.Request | undefined;
  let arriving: Row[] = [];
  let more = Promise.withResolvers<void>();
  let ended = false;
  const left = new AbortController();
  const start = (request: sql.Request) => {
    asked = request;
    bytes?.begin();
    const finish = (): void => {
      full.push(arriving);
      arriving = [];
      request.pause();
      more.resolve();
    };
    return (row: Row): void => {
      if (bytes?.takes(row) === false) {
        finish();
        bytes.begin();
        bytes.takes(row);
      }
      arriving.push(row);
      if (arriving.length < size) return;
      finish();
      bytes?.begin();
    };
  };
  const end = begin(start, left.signal).finally(() => {
    ended = true;
    more.resolve();
  });
  // The consumer of the lists gets the error.
  end.catch(() => undefined);
  try {
    for (;;) {
      const next = full.shift();
      if (next) {
        if (full.length === 0) asked?.resume();
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

function tooLong(): DatabaseError {
  return new DatabaseError('unavailable', 'the statement took too long and was cancelled', {
    retryAfter: 5,
    publicText: TOO_LONG,
  });
}
