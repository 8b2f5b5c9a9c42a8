/**
 * The file that stands at a path now. In: the path. Out: rows of statements; from another file as soon as another stands there,
 * for a copy that is put in its place, or restored, leaves the one that is open without a name and without changes.
 */
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import type { SqlValue } from '../expression.ts';
import type { BoundStatement } from '../statement.ts';
import { attempt, told } from './errors.ts';
import { registerFunctions } from './functions.ts';
import { preparesLasting, releasesOthers } from './lasting.ts';
import { createLimit } from './limit.ts';

/** Prepared statements kept; a busy pack has some hundred shapes. */
const STATEMENTS = 500;
/** Characters; a longer text is seldom asked again, and prepared it may hold megabytes. */
const TEXT_LENGTH = 30_000;
/** Milliseconds that the first opening waits for a writer; nobody else waits for it yet. */
const BUSY = 5000;

export interface FileOptions {
  /** Kilobytes of the file that are kept in memory. */
  readonly cache: number;
  /** Milliseconds between two looks at what stands at the path. */
  readonly look: number;
  /** Milliseconds that a statement may compute. */
  readonly longest: number;
}

/** All throw DatabaseError; a file that somebody writes is told at once, with nobody waiting. */
export interface SqliteFile {
  /** `limited`: it is ended where it computes too long. `now`: as performance.now() has it. */
  rows(statement: BoundStatement<SQLInputValue>, limited?: boolean, now?: number): SqlValue[][];
  /** Whether the rows of a table are numbered, as `rowid`; a view's are not. */
  hasRowids(table: string): boolean;
  /** Runs `ask` on the connection. */
  use<T>(what: string, ask: (database: DatabaseSync) => T): T;
  /** Lets go of prepared statements. */
  forget(): void;
  close(): void;
}

/** Opens it read-only. Throws DatabaseError (`unavailable`) if there is none, or no database in it. */
export function openFile(path: string, { cache, look, longest }: FileOptions): SqliteFile {
  const limit = createLimit(longest);
  const statements = new Map<string, StatementSync>();
  let prepareLasting: ((sql: string) => StatementSync) | undefined;
  let releaseOthers = releasesOthers();
  /** By name, of the file that is open. */
  const numbered = new Map<string, boolean>();
  let identity: string | undefined;
  let looked = 0;
  let closed = false;

  const open = (busy: number): DatabaseSync =>
    attempt('open', () => {
      // Before it is opened: a file that comes in between is taken for another at the next look.
      identity = identityOf(path);
      looked = performance.now();
      const opened = new DatabaseSync(path, { readOnly: true, timeout: busy });
      try {
        opened.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cache}`);
        opened.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
        // From now on SQLite would hold the thread, and with it everybody, while somebody writes.
        opened.exec('PRAGMA busy_timeout = 0');
        registerFunctions(opened, limit);
        return opened;
      } catch (error) {
        opened.close();
        throw error;
      }
    });

  let connection: DatabaseSync | undefined = open(BUSY);

  const disconnect = (): void => {
    statements.clear();
    numbered.clear();
    prepareLasting = undefined;
    releaseOthers = releasesOthers();
    if (connection?.isOpen) connection.close();
    connection = undefined;
  };

  const connected = (now = performance.now()): DatabaseSync => {
    if (now - looked >= look && !closed) {
      looked = now;
      if (identityOf(path) !== identity) disconnect();
    }
    if (closed) throw Object.assign(new Error('closed'), { code: 'ERR_INVALID_STATE' });
    connection ??= open(0);
    return connection;
  };

  /** The first to come is the first to go: to keep them in the order of use costs more than to prepare one again. */
  const keep = (database: DatabaseSync, text: string): StatementSync => {
    prepareLasting ??= preparesLasting(database);
    const statement = prepareLasting(text);
    statement.setReturnArrays(true);
    statements.set(text, statement);
    if (statements.size > STATEMENTS) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        break;
      }
    }
    return statement;
  };

  const prepared = (database: DatabaseSync, { text, parameters }: BoundStatement<SQLInputValue>): StatementSync => {
    if (text.length > TEXT_LENGTH) {
      const statement = database.prepare(text);
      statement.setReturnArrays(true);
      return statement;
    }
    const statement = statements.get(text) ?? keep(database, text);
    releaseOthers(statement, parameters.length);
    return statement;
  };

  return {
    rows(statement, limited = false, now = performance.now()) {
      let isPrepared = false;
      try {
        limit.begin(limited, now);
        const ready = prepared(connected(now), statement);
        isPrepared = true;
        const rows: unknown = ready.all(...statement.parameters);
        return rows as SqlValue[][];
      } catch (cause) {
        throw told('query', cause, isPrepared);
      }
    },
    hasRowids: table =>
      attempt('query', () => {
        const database = connected();
        const known = numbered.get(table);
        if (known !== undefined) return known;
        const found = database.prepare(NUMBERED).get(table) !== undefined;
        numbered.set(table, found);
        return found;
      }),
    use: (what, ask) => attempt(what, () => ask(connected())),
    forget() {
      statements.clear();
      releaseOthers = releasesOthers();
    },
    close() {
      closed = true;
      disconnect();
    },
  };
}

const NUMBERED = `SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE AND type = 'table' AND wr = 0`;

/** Undefined where there is no file, as for a database in memory. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
