/**
 * Defines the interface to a legacy database. Each engine's folder has an adapter, and all adapters send only SELECT.
 */
import type { Awaitable } from '../common/awaitable.ts';
import type { Catalog, CatalogPart } from './catalog.ts';
import type { PlaceholderValues, Row, SqlPlan, Statement } from './plan.ts';
import type { ByteLimit } from './row-limits.ts';

export interface QueryOptions {
  /** Aborting it cancels the statement on the server. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Exports and interactive requests have separate bulkheads, so that an export never delays a request. Default:
   * `interactive`.
   */
  readonly bulkhead?: 'interactive' | 'export' | undefined;
  /** The mapping that the rows are for; adapters ignore it. */
  readonly mapping?: string;
  /** Values of the placeholders of a plan that is reused. Without them the plan is rendered for this use alone. */
  readonly placeholders?: PlaceholderValues | undefined;
  /** The instant of the request, in milliseconds since the epoch, for plans that compare with it (`Moment`). */
  readonly now?: number;
  /** Ends the statement before its rows have more bytes. In a stream: the bytes of one list. */
  readonly bytes?: ByteLimit | undefined;
}

export interface BulkheadLoad {
  readonly size: number;
  readonly taken: number;
  readonly waiting: number;
  /** Statements refused since the start, because the queue was full or the wait too long. */
  readonly refused: number;
}

export interface DatabaseLoad {
  /** True if the last statement did not reach the database. Only a probe queries it until that is answered. */
  readonly away: boolean;
  /** Errors without a known cause, by the engine's number, with how often they occurred. Absent if there are none. */
  readonly unexplained?: readonly { readonly number: number; readonly times: number }[];
  /** Empty if statements run on the calling thread. */
  readonly bulkheads: Readonly<Record<string, BulkheadLoad>>;
}

export interface Permissions {
  /** Those among the tables asked for. Without a column: the whole table. */
  readonly unreadable: readonly { readonly table: string; readonly column?: string }[];
  /** Further permissions: on the whole database (`INSERT`), and on tables (`UPDATE on PERSON`). */
  readonly writes: readonly string[];
}

/** Facts about a table beyond its columns, for people who look at a database. */
export interface TableSurvey {
  /** Undefined if the engine keeps no number and counting could take very long. */
  readonly rows: TableRows | undefined;
  /** The foreign keys that the table declares. */
  readonly foreignKeys: readonly ForeignKey[];
}

export interface TableRows {
  readonly count: number;
  /** `exact`: counted; `about`: from the engine's statistics; `most`: an upper bound. */
  readonly kind: 'exact' | 'about' | 'most';
}

export interface ForeignKey {
  readonly columns: readonly string[];
  /** The other table's key in the catalog. */
  readonly table: string;
  /** As many as `columns`; empty: the primary key of the other table. */
  readonly theirs: readonly string[];
}

export interface IndexToTry {
  /** The name for statements. */
  readonly table: string;
  /** The CREATE INDEX statement. */
  readonly statement: string;
}

export interface Database {
  /** The name of the engine (engines.ts). */
  readonly engine: string;
  render(plan: SqlPlan, placeholders?: PlaceholderValues, now?: number): Statement;
  /**
   * Returns all rows of a bounded plan: synchronously if statements run on the calling thread. Rejects with
   * DatabaseError.
   */
  query(plan: SqlPlan, options?: QueryOptions): Awaitable<readonly Row[]>;
  /**
   * Returns the rows of a bounded plan in lists of `size`. Fetches them from the server as the caller takes them; rows
   * that are not taken stay there. Only the last list is shorter, and any list that reaches `bytes`. If an open
   * statement would block writers, the engine ends after one full list; the caller continues after it with another
   * plan. Ending the iteration early cancels the statement. Throws DatabaseError.
   */
  stream(plan: SqlPlan, size: number, options?: QueryOptions): AsyncIterable<readonly Row[]>;
  /**
   * Reads columns, types, keys and indexes of a part of the schema, or of all of it. Leaves out what does not exist.
   */
  catalog(part?: CatalogPart): Promise<Catalog>;
  /**
   * For an engine that stores any value in any column: returns the catalog with the form in which the rows of date,
   * time and number columns are written. Columns that `isAsked` rejects (by table and column in lower case) count as
   * written in any form.
   */
  forms?(catalog: Catalog, isAsked: (table: string, column: string) => boolean): Promise<Catalog>;
  /**
   * True if columns are now written in another form than `forms` last found. Cheap if nobody has written since, and if
   * a fetched row has already shown it. Throws DatabaseError.
   */
  formsChanged?(): Promise<boolean>;
  /** Calls back at once if a fetched row shows that a column has another form than `forms` found. */
  onFormDisproved?(heard: () => void): void;
  /**
   * Returns sizes and declared foreign keys of the tables of a catalog, by its keys. The number of rows comes from the
   * engine's statistics; at most a few thousand rows of a table are counted. Rejects with DatabaseError.
   */
  survey?(catalog: Catalog): Promise<ReadonlyMap<string, TableSurvey>>;
  /** Returns the login's permissions on these tables, if the engine has logins. */
  permissions(tables: readonly string[]): Promise<Permissions>;
  /** Returns the engine's description of the index or scan for a statement, one line each. */
  explain(plan: SqlPlan, placeholders?: PlaceholderValues, now?: number): Promise<readonly string[]>;
  /**
   * Returns what `explain` would return with additional indexes; ignores those on tables outside of the plan. Uses a
   * copy of the schema and changes nothing in the database. Undefined if this schema cannot be copied. Absent if the
   * engine has no such estimate.
   */
  whatIf?(
    plan: SqlPlan,
    indexes: readonly IndexToTry[],
    placeholders?: PlaceholderValues,
    now?: number,
  ): Promise<readonly string[] | undefined>;
  /** Returns the load of the connections; sends no statement. */
  load(): DatabaseLoad;
  /** Sends one cheap statement; throws if the database does not answer. */
  ping(): Promise<void>;
  /** Frees what is cached for repeated statements, which may still be sent. */
  forget?(): void;
  close(): Promise<void>;
}

/** The engine's or driver's code of an error. Never its message, which may contain a value. */
export interface EngineCode {
  /** SQLite's name of a result (`SQLITE_ERROR`), or the driver's of an error of its own (`ESOCKET`). */
  readonly code?: string;
  /** SQL Server's number of an error, or SQLite's extended result code. */
  readonly number?: number;
  /** SQL Server's state: which of the places that raise this number did so. */
  readonly state?: number;
}

interface DatabaseErrorOptions {
  readonly cause?: unknown;
  readonly retryAfter?: number;
  readonly engine?: EngineCode;
  readonly missing?: boolean;
  readonly words?: string | undefined;
  readonly publicText?: string | undefined;
}

/** The part of a DatabaseError that may be logged. */
export interface DescribedDatabaseError extends EngineCode {
  readonly reason: DatabaseError['reason'];
  readonly database: string;
  readonly mapping?: string;
}

/** `publicText` of a statement that was ended before it answered. */
export const TOO_LONG = 'The database is too slow for this';

/**
 * An error of a database. `unavailable`: unreachable or overloaded (503, with seconds to wait); `cancelled`: by the
 * caller's signal; `failed`: any other.
 */
export class DatabaseError extends Error {
  readonly reason: 'unavailable' | 'cancelled' | 'failed';
  readonly retryAfter: number | undefined;
  readonly engine: EngineCode;
  /** True if the statement names a table or column that does not exist or may not be read: the schema has changed. */
  readonly missing: boolean;
  /**
   * The engine's message about the statement itself, before it read a row: names and syntax, never a row's value. It is
   * for the authors of mappings and is not logged.
   */
  readonly words: string | undefined;
  /**
   * For `unavailable`, if the database is reachable but busy: the reason for the client, without names of the database.
   * Undefined if it is unreachable.
   */
  readonly publicText: string | undefined;
  /** The mapping that the statement was for; set by the caller that knows it. */
  mapping: string | undefined;

  /** `message` names the failure and never contains a value. */
  constructor(
    reason: 'unavailable' | 'cancelled' | 'failed',
    message: string,
    { cause, retryAfter, engine = {}, missing = false, words, publicText }: DatabaseErrorOptions = {},
  ) {
    super(message, { cause });
    this.name = 'DatabaseError';
    this.reason = reason;
    this.retryAfter = retryAfter;
    this.engine = engine;
    this.missing = missing;
    this.words = words;
    this.publicText = publicText;
  }

  /** Returns what may be logged; it contains no value. */
  describe(): DescribedDatabaseError {
    const mapping = this.mapping === undefined ? {} : { mapping: this.mapping };
    return { reason: this.reason, database: this.message, ...this.engine, ...mapping };
  }
}

/**
 * A row that an export fetched has another form than `forms` found for its column: the mappings must be reloaded before
 * this row is read. Rows fetched earlier have the expected form.
 */
export class FormDisproved extends Error {
  constructor() {
    super('rows are written in another form than before');
    this.name = 'FormDisproved';
  }
}

/** The statement has more parameters than the engine takes; the caller can split it. */
export class StatementTooLarge extends DatabaseError {
  constructor() {
    super('failed', 'the statement has more parameters than the database supports');
    this.name = 'StatementTooLarge';
  }
}

/**
 * Passes the deadline of a request to statements. A signal aborts other work when the time is over; but a statement on
 * the calling thread blocks the signal, so it must know the deadline beforehand. In: a signal, and an instant of
 * performance.now(). Out: that instant.
 */
const instants = new WeakMap<AbortSignal, number>();

/** Sets the deadline of a signal, as an instant; if several callers share it, the latest counts. */
export function endsAt(signal: AbortSignal, instant: number): void {
  instants.set(signal, Math.max(instant, instants.get(signal) ?? instant));
}

/** Returns the deadline of a signal; undefined if it has none. */
export function deadlineOf(signal: AbortSignal | undefined): number | undefined {
  return signal && instants.get(signal);
}

/** Returns a signal that aborts after so many milliseconds, or with `outer`. */
export function within(milliseconds: number, outer?: AbortSignal): AbortSignal {
  const time = AbortSignal.timeout(Math.ceil(milliseconds));
  const signal = outer ? AbortSignal.any([outer, time]) : time;
  endsAt(signal, Math.min(performance.now() + milliseconds, deadlineOf(outer) ?? Number.POSITIVE_INFINITY));
  return signal;
}

/** True if a statement was ended because its time was over or its signal aborted. */
export function wasEnded(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (error.publicText === TOO_LONG || error.reason === 'cancelled');
}

/** Returns the error for a caller that has disconnected. */
export function cancelled(): DatabaseError {
  return new DatabaseError('cancelled', 'the query was cancelled');
}
