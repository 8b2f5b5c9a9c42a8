/**
 * Follows the file at a path. In: the path. Out: rows of statements, from the new file as soon as another is put in
 * its place, and from new contents of the same file.
 * A file that is replaced leaves an open connection on the old one; a file that is overwritten (`cp`) leaves it with
 * stale pages and a stale schema.
 */
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { DatabaseError } from '../database.ts';
import type { SqlValue } from '../expression.ts';
import { retryIn } from '../retry-after.ts';
import type { BoundStatement } from '../statement.ts';
import { attempt, isBusy, isOfOtherContents, told } from './errors.ts';
import { registerFunctions } from './functions.ts';
import { createLimit } from './time-limits.ts';

/** Prepared statements kept; a busy pack has some hundred shapes. */
const STATEMENTS = 500;
/** Characters of all of them, and of one: prepared, a text may hold twenty times its own length. */
const TEXTS_LENGTH = 4_000_000;
const TEXT_LENGTH = 200_000;
/**
 * Characters of statements that were let go of, after which the connection is opened anew. Only its end takes a
 * prepared statement out of memory for sure: node:sqlite leaves that to the garbage collector, which does not see what
 * SQLite holds. 900 statements of 150,000 characters hold 2 GB.
 */
const DROPPED_LENGTH = 8_000_000;
/** Milliseconds that the first opening waits for a writer; nobody else waits for it yet. */
const BUSY = 5000;

export interface FileOptions {
  /** Kilobytes of the file that are kept in memory. */
  readonly cache: number;
  /** Milliseconds between two looks at what stands at the path. */
  readonly look: number;
}

/** All throw DatabaseError; a file that somebody writes is told at once, with nobody waiting. */
export interface SqliteFile {
  /**
   * `until`: it is ended then, and where it computes too long; undefined: it is not. Both as performance.now() has
   * them.
   */
  rows(statement: BoundStatement<SQLInputValue>, until?: number, now?: number): SqlValue[][];
  /** Whether `rowid` is the number of a row: that of a view is not, nor a column of that name. */
  hasRowids(table: string): boolean;
  /** Runs `ask` on the connection. */
  use<T>(what: string, ask: (database: DatabaseSync) => T): T;
  /** Lets go of prepared statements. */
  forget(): void;
  close(): void;
}

/** Opens it read-only. Throws DatabaseError (`unavailable`) if there is none, or no database in it. */
export function openFile(path: string, { cache, look }: FileOptions): SqliteFile {
  const limit = createLimit();
  const statements = new Map<string, StatementSync>();
  /** Characters of their texts, and of those that were let go of on this connection. */
  let length = 0;
  let dropped = 0;
  let prepareLasting: ((sql: string) => StatementSync) | undefined;
  let releaseOthers = releasesOthers();
  /** By name, of the file that is open. */
  const numbered = new Map<string, boolean>();
  let identity: string | undefined;
  let contents: string | undefined;
  /** As SQLite numbers the commits of others that this connection has seen. */
  let version: unknown;
  let looked = 0;
  let closed = false;

  const open = (busy: number): DatabaseSync =>
    attempt('open', () => {
      // Before it is opened: a file that comes in between is taken for another at the next look.
      identity = identityOf(path);
      contents = contentsOf(path);
      looked = performance.now();
      const opened = new DatabaseSync(path, { readOnly: true, timeout: busy });
      try {
        opened.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cache}`);
        opened.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
        // From now on SQLite would hold the thread, and with it everybody, while somebody writes.
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
    // A database in memory would be gone with its connection.
    if (dropped > DROPPED_LENGTH && identity !== undefined) disconnect();
    if (closed) throw Object.assign(new Error('closed'), { code: 'ERR_INVALID_STATE' });
    connection ??= open(0);
    return connection;
  };

  /**
   * A commit changes the file, and the number that SQLite tells of it. Where the file has changed and the number has
   * not, somebody has written the file himself; or the log was moved into it, after which the connection is made anew
   * in vain.
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
      // A writer is at work: what he leaves behind is looked at next time.
      if (!isBusy(told('look', error))) return true;
      contents = before;
      return false;
    }
  };

  const forgetStatements = (): void => {
    statements.clear();
    dropped += length;
    length = 0;
  };

  /** The first to come is the first to go: to keep them in the order of use costs more than to prepare one again. */
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

  const rows = (statement: BoundStatement<SQLInputValue>, until?: number, now = performance.now()): SqlValue[][] => {
    let isPrepared = false;
    try {
      limit.begin(until);
      const ready = prepared(connected(now), statement);
      isPrepared = true;
      const found: unknown = ready.all(...statement.parameters);
      return found as SqlValue[][];
    } catch (cause) {
      throw told('query', cause, isPrepared);
    }
  };

  /** What may be the fault of a connection that outlived its file is asked once more, on a new one. */
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
        // The first says what was found where; the second may only say that the file cannot be opened.
        throw error instanceof DatabaseError && error.reason === 'unavailable' ? error : again;
      }
    }
  };

  const asked = <T>(what: string, ask: () => T): T => anew(() => attempt(what, ask));

  /** As a file is that was cut to nothing, before its new contents come. */
  const isEmpty = (): boolean =>
    attempt('query', () => connected().prepare('SELECT COUNT(*) AS n FROM sqlite_schema').get()?.['n'] === 0);

  return {
    rows: (statement, until, now) => anew(() => rows(statement, until, now)),
    hasRowids: table =>
      asked('query', () => {
        const database = connected();
        const name = lower(table);
        if (!numbered.has(name)) {
          // All tables at once: SQLite lists all of them for the question after one.
          for (const one of database.prepare(NUMBERED).all()) numbered.set(lower(String(one['name'])), one['is'] === 1);
          if (!numbered.has(name)) numbered.set(name, false);
        }
        return numbered.get(name) === true;
      }),
    use: (what, ask) =>
      asked(what, () => {
        // The limit of the statement before it is not its own.
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

function noTables(): DatabaseError {
  return new DatabaseError('unavailable', 'the SQLite file has no tables', { retryAfter: retryIn(5) });
}

/** A column may have taken the name of the number. What a view names may be gone, so it is not asked for columns. */
const NUMBERED = `SELECT name,
    CASE WHEN type = 'table' AND wr = 0
      THEN NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(l.name) AS c WHERE lower(c.name) = 'rowid') ELSE 0 END AS "is"
  FROM pragma_table_list AS l WHERE schema = 'main'`;

/** As SQLite compares names: without the case of ASCII letters. */
function lower(name: string): string {
  return name.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}

/** Undefined where there is no file, as for a database in memory. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Another for each write; undefined likewise. A log beside the file is no matter: SQLite sees to that itself. */
function contentsOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.size}:${found.mtimeMs}:${found.ctimeMs}`;
}

/** Texts of one row: more than the lookaside has places. */
const TEXTS = 150;
const OCCUPYING = `SELECT ${Array.from({ length: TEXTS }, () => '?1 || ?1').join()}`;
/** Longer than what stands in a value itself. */
const TEXT = 'a text of some length';

/** So many values may stay bound: a good half of the places for short texts. */
const BOUND = 60;

/**
 * Prepares statements that are kept as long as the connection is. What SQLite needs while a statement runs it takes
 * from 48 kB that a connection has at hand, its lookaside. Prepared statements and bound values take of it too, and
 * once it is used up, every statement takes a fifth longer. The flag against it, SQLITE_PREPARE_PERSISTENT, cannot be
 * given to node:sqlite (https://github.com/nodejs/node/pull/62757). So a row of another statement occupies the
 * lookaside while one is prepared. Throws what node:sqlite throws.
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
  // The first has places in the lookaside itself, until it is collected.
  const occupying = beside(database.prepare(OCCUPYING), OCCUPYING);
  return sql => beside(occupying, sql);
}

/**
 * To be told of each such statement before it is run, and of how many values: lets go of those of others, once they are
 * many.
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

/** For a statement whose rows have been fetched: asking it anew begins with letting go of what it was asked. */
function unbind(statement: StatementSync): void {
  statement.iterate();
}
