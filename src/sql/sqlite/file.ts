/**
 * Follows the file at a path. In: the path. Out: rows of statements; from the new file as soon as another replaces it,
 * and from the new contents if the same file is overwritten.
 * If a file is replaced, an open connection still reads the old one. If it is overwritten (`cp`), the connection has
 * stale pages and a stale schema.
 */
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { DatabaseError } from '../database.ts';
import type { SqlValue } from '../expression.ts';
import { retryIn } from '../retry-after.ts';
import type { ByteLimit } from '../row-limits.ts';
import type { BoundStatement } from '../statement.ts';
import { attempt, databaseErrorOf, isBusy, isOfOtherContents } from './errors.ts';
import { registerFunctions } from './functions.ts';
import { createLimit } from './time-limits.ts';

/** Limit of cached prepared statements; a busy pack has some hundred shapes. */
const STATEMENTS = 500;
/** Limits of characters of all cached statements, and of one: prepared, a text may take twenty times its own length. */
const TEXTS_LENGTH = 4_000_000;
const TEXT_LENGTH = 200_000;
/**
 * Characters of dropped statements after which the connection is reopened. Only closing it surely frees the memory of a
 * prepared statement: node:sqlite leaves that to the garbage collector, which does not see SQLite's memory. 900
 * statements of 150,000 characters take 2 GB.
 */
const DROPPED_LENGTH = 8_000_000;
/** Milliseconds that the first opening waits for a writer, while no client waits for it yet. */
const BUSY = 5000;

export interface FileOptions {
  /** Kilobytes of the file to keep in memory. */
  readonly cache: number;
  /** Milliseconds between two checks of the file at the path. */
  readonly look: number;
}

/**
 * An open file. All methods throw DatabaseError; if somebody writes to the file they throw at once, without waiting.
 */
export interface SqliteFile {
  /**
   * Returns the rows of a statement. `until`: the instant of performance.now() at which the statement is ended if it
   * still computes; undefined: no limit. `now`: the present instant. `bytes` limits the rows.
   */
  rows(statement: BoundStatement<SQLInputValue>, until?: number, now?: number, bytes?: ByteLimit): SqlValue[][];
  /** True if `rowid` identifies a row. False for views, and for tables with a column of that name. */
  hasRowids(table: string): boolean;
  /** Runs `ask` on the connection. */
  use<T>(what: string, ask: (database: DatabaseSync) => T): T;
  /** Drops prepared statements. */
  forget(): void;
  close(): void;
}

/** Opens a file read-only. Throws DatabaseError (`unavailable`) if it does not exist or contains no database. */
export function openFile(path: string, { cache, look }: FileOptions): SqliteFile {
  const limit = createLimit();
  const statements = new Map<string, StatementSync>();
  /** Characters of the cached statements, and of those dropped on this connection. */
  let length = 0;
  let dropped = 0;
  let prepareLasting: ((sql: string) => StatementSync) | undefined;
  let releaseOthers = releasesOthers();
  /** Results of `hasRowids` by name, for the open file. */
  const numbered = new Map<string, boolean>();
  let identity: string | undefined;
  let contents: string | undefined;
  /** SQLite's number of the last foreign commit that this connection has seen. */
  let version: unknown;
  let looked = 0;
  let closed = false;

  const open = (busy: number): DatabaseSync =>
    attempt('open', () => {
      // Read before opening: if the file is replaced in between, the next check notices it.
      identity = identityOf(path);
      contents = contentsOf(path);
      looked = performance.now();
      const opened = new DatabaseSync(path, { readOnly: true, timeout: busy });
      try {
        opened.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cache}`);
        opened.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
        // A longer timeout would block the thread, and with it all clients, while somebody writes.
        opened.exec('PRAGMA busy_timeout = 0');
        version = opened.prepare('PRAGMA data_version').get()?.['data_version'];
        registerFunctions(opened, limit);
        return opened;
      } catch (error) {
        opened.close();
        throw error;
      }
    });

  let connection: DatabaseSync | undefined = open(BUSY);

  const disconnect = (): void => {
    forgetStatements();
    numbered.clear();
    prepareLasting = undefined;
    releaseOthers = releasesOthers();
    dropped = 0;
    if (connection?.isOpen) connection.close();
    connection = undefined;
  };

  const connected = (now = performance.now()): DatabaseSync => {
    if (now - looked >= look && !closed) {
      looked = now;
      if (identityOf(path) !== identity || isWrittenOver()) disconnect();
    }
    // A database in memory would be lost with its connection.
    if (dropped > DROPPED_LENGTH && identity !== undefined) disconnect();
    if (closed) throw Object.assign(new Error('closed'), { code: 'ERR_INVALID_STATE' });
    connection ??= open(0);
    return connection;
  };

  /**
   * True if somebody has overwritten the file: a commit changes both the file and SQLite's data_version, so a changed
   * file with the same version was overwritten. A checkpoint of the log looks the same; then the reconnection is
   * unnecessary.
   */
  const isWrittenOver = (): boolean => {
    const before = contents;
    contents = contentsOf(path);
    if (contents === before || connection === undefined) return false;
    try {
      const found: unknown = connection.prepare('PRAGMA data_version').get()?.['data_version'];
      const isSame = found === version;
      version = found;
      return isSame;
    } catch (error) {
      // A writer is at work: the next check reads what it has written.
      if (!isBusy(databaseErrorOf('look', error))) return true;
      contents = before;
      return false;
    }
  };

  const forgetStatements = (): void => {
    statements.clear();
    dropped += length;
    length = 0;
  };

  /** Drops the oldest first: keeping them in the order of use costs more than preparing one again. */
  const keep = (database: DatabaseSync, text: string): StatementSync => {
    prepareLasting ??= preparesLasting(database);
    const statement = prepareLasting(text);
    statement.setReturnArrays(true);
    statements.set(text, statement);
    length += text.length;
    for (const oldest of statements.keys()) {
      if (statements.size <= STATEMENTS && length <= TEXTS_LENGTH) break;
      statements.delete(oldest);
      length -= oldest.length;
      dropped += oldest.length;
    }
    return statement;
  };

  const prepared = (database: DatabaseSync, { text, parameters }: BoundStatement<SQLInputValue>): StatementSync => {
    if (text.length > TEXT_LENGTH) {
      const statement = database.prepare(text);
      statement.setReturnArrays(true);
      dropped += text.length;
      return statement;
    }
    const statement = statements.get(text) ?? keep(database, text);
    releaseOthers(statement, parameters.length);
    return statement;
  };

  const rows: SqliteFile['rows'] = (statement, until, now = performance.now(), bytes) => {
    let isPrepared = false;
    try {
      limit.begin(until);
      const ready = prepared(connected(now), statement);
      isPrepared = true;
      // Fetching row by row takes a fifth longer.
      if (bytes !== undefined) return withinBytes(ready.iterate(...statement.parameters), bytes);
      const found: unknown = ready.all(...statement.parameters);
      return found as SqlValue[][];
    } catch (cause) {
      throw databaseErrorOf('query', cause, isPrepared);
    }
  };

  /** Retries once on a new connection: the old one may have outlived its file. */
  const anew = <T>(ask: () => T): T => {
    try {
      return ask();
    } catch (error) {
      if (closed || !isOfOtherContents(error)) throw error;
      disconnect();
      try {
        return ask();
      } catch (again) {
        if (again instanceof DatabaseError && again.missing && isEmpty()) throw noTables();
        // The first error says what was found where; the second may only say that the file cannot be opened.
        throw error instanceof DatabaseError && error.reason === 'unavailable' ? error : again;
      }
    }
  };

  const asked = <T>(what: string, ask: () => T): T => anew(() => attempt(what, ask));

  /** True for a file that was truncated, before its new contents arrive. */
  const isEmpty = (): boolean =>
    attempt('query', () => connected().prepare('SELECT COUNT(*) AS n FROM sqlite_schema').get()?.['n'] === 0);

  return {
    rows: (statement, until, now, bytes) => anew(() => rows(statement, until, now, bytes)),
    hasRowids: table =>
      asked('query', () => {
        const database = connected();
        const name = lower(table);
        if (!numbered.has(name)) {
          // Reads all tables at once, because SQLite lists all of them even if one is asked for.
          for (const one of database.prepare(NUMBERED).all()) numbered.set(lower(String(one['name'])), one['is'] === 1);
          if (!numbered.has(name)) numbered.set(name, false);
        }
        return numbered.get(name) === true;
      }),
    use: (what, ask) =>
      asked(what, () => {
        // Removes the time limit of the previous statement.
        limit.begin(undefined);
        return ask(connected());
      }),
    forget() {
      forgetStatements();
      releaseOthers = releasesOthers();
    },
    close() {
      closed = true;
      disconnect();
    },
  };
}

/** Takes rows up to the limit. Ending the iteration resets the statement, so that it holds no lock. */
function withinBytes(found: Iterable<unknown>, bytes: ByteLimit): SqlValue[][] {
  bytes.begin();
  const rows: SqlValue[][] = [];
  for (const one of found) {
    const row = one as SqlValue[];
    if (!bytes.takes(row)) break;
    rows.push(row);
  }
  return rows;
}

function noTables(): DatabaseError {
  return new DatabaseError('unavailable', 'the SQLite file has no tables', { retryAfter: retryIn(5) });
}

/** Excludes tables in which a column has the name `rowid`. Reads no columns of views, whose tables may be missing. */
const NUMBERED = `SELECT name,
    CASE WHEN type = 'table' AND wr = 0
      THEN NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(l.name) AS c WHERE lower(c.name) = 'rowid') ELSE 0 END AS "is"
  FROM pragma_table_list AS l WHERE schema = 'main'`;

/** Lowers ASCII letters, as SQLite does to compare names. */
function lower(name: string): string {
  return name.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

/** Returns device and inode of the file; undefined if there is none, as for a database in memory. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/**
 * Returns a text that changes with each write; undefined likewise. Excludes the log, which SQLite itself reads
 * correctly.
 */
function contentsOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
}

/** Number of texts in one row: more than the lookaside has slots. */
const TEXTS = 150;
const OCCUPYING = `SELECT ${Array.from({ length: TEXTS }, () => '?1 || ?1').join()}`;
/** Longer than a text that SQLite stores in the value itself. */
const TEXT = 'a text of some length';

/** Limit of bound values: a good half of the slots for short texts. */
const BOUND = 60;

/**
 * Prepares statements that are kept as long as the connection. While a statement runs, SQLite takes memory from the
 * connection's lookaside of 48 kB. Prepared statements and bound values take of it too, and once it is used up, every
 * statement takes a fifth longer. The flag against it, SQLITE_PREPARE_PERSISTENT, cannot be passed to node:sqlite
 * (https://github.com/nodejs/node/pull/62757). So a row of another statement occupies the lookaside while one is
 * prepared. Throws what node:sqlite throws.
 * https://sqlite.org/malloc.html#lookaside
 */
export function preparesLasting(database: DatabaseSync): (sql: string) => StatementSync {
  const beside = (occupying: StatementSync, sql: string): StatementSync => {
    const rows = occupying.iterate(TEXT);
    rows.next();
    try {
      return database.prepare(sql);
    } finally {
      rows.return?.();
    }
  };
  // The first statement itself has slots in the lookaside until it is collected.
  const occupying = beside(database.prepare(OCCUPYING), OCCUPYING);
  return sql => beside(occupying, sql);
}

/**
 * Creates a function to call before each run of such a statement, with its number of values. It unbinds the values of
 * other statements once there are many.
 */
export function releasesOthers(): (statement: StatementSync, values: number) => void {
  const bound = new Set<StatementSync>();
  let sum = 0;
  let last: StatementSync | undefined;
  return (statement, values) => {
    if (statement === last) return;
    last = statement;
    if (sum + values > BOUND) {
      for (const one of bound) unbind(one);
      bound.clear();
      sum = 0;
    }
    bound.add(statement);
    sum += values;
  };
}

/** Unbinds the values of a statement whose rows have been fetched: iterating it again first resets its bindings. */
function unbind(statement: StatementSync): void {
  statement.iterate();
}
