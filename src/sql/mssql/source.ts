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

  return {
    async run(statement, { signal, timeout, onFree }) {
      if (!isOneSelect(statement.text)) {
        onFree?.();
        throw new TypeError('only a SELECT is ever sent');
      }
      let ready: sql.ConnectionPool;
      try {
        ready = await connected();
      } catch (error) {
        onFree?.();
        throw error;
      }
      return collect(ready.request(), statement, { signal, timeout, ...(onFree ? { onFree } : {}) });
    },
    async close() {
      const opened = pool;
      pool = undefined;
      // Where it never opened there is nothing to close.
      const found = await opened?.catch(() => undefined);
      await found?.close();
    },
  };
}

function collect(request: sql.Request, statement: Statement, options: RunOptions): Promise<readonly Row[]> {
  const { signal, timeout, onFree } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      onFree?.();
      reject(cancelled());
      return;
    }
    const rows: Row[] = [];
    let failed: unknown;
    const giveUp = (reason: DatabaseError): void => {
      request.cancel();
      rows.length = 0;
      settle();
      reject(reason);
    };
    const abort = (): void => giveUp(cancelled());
    const timer = setTimeout(() => giveUp(tooLong()), timeout);
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    signal?.addEventListener('abort', abort, { once: true });
    request.stream = true;
    request.on('row', (row: Row) => rows.push(row));
    request.on('error', error => {
      failed ??= error;
    });
    request.on('done', () => {
      settle();
      onFree?.();
      if (failed === undefined) resolve(rows);
      else reject(failed);
    });
    try {
      for (const parameter of statement.parameters) {
        const { type, value } = bindParameter(parameter);
        request.input(parameter.name, type, value);
      }
    } catch (error) {
      settle();
      onFree?.();
      reject(error);
      return;
    }
    request.query(statement.text, () => undefined);
  });
}

function cancelled(): DatabaseError {
  return new DatabaseError('cancelled', 'the query was cancelled');
}

function tooLong(): DatabaseError {
  return new DatabaseError('unavailable', 'the statement took too long and was cancelled', { retryAfter: 5 });
}
