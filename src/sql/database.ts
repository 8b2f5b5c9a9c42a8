/**
 * The interface to a legacy database, of which each engine's folder has an adapter. All adapters send only SELECT.
 */
import type { Awaitable } from '../common/awaitable.ts';
import type { Catalog, CatalogPart } from './catalog.ts';
import type { PlaceholderValues, Row, SqlPlan, Statement } from './plan.ts';

export interface QueryOptions {
  /** Aborting it cancels the statement on the server. */
  readonly signal?: AbortSignal | undefined;
  /** The export bulkhead never delays the interactive one. Default `interactive`. */
  readonly bulkhead?: 'interactive' | 'export' | undefined;
  /** Which mapping the rows are for; adapters do not look at it. */
  readonly mapping?: string;
  /** Values of the placeholders of a plan that is used again; without them it is rendered for this use alone. */
  readonly placeholders?: PlaceholderValues | undefined;
  /** The instant of the request, in milliseconds since the epoch, for plans that compare with it (`Moment`). */
  readonly now?: number;
}

export interface BulkheadLoad {
  readonly size: number;
  readonly taken: number;
  readonly waiting: number;
  /** Ever: too many waited, or the wait was too long. */
  readonly refused: number;
}

export interface DatabaseLoad {
  /** It was away when it was asked last, and is asked by a probe alone until that is answered. */
  readonly away: boolean;
  /** Errors that nobody has thought of yet, by the engine's number, with how often they came. Absent: none. */
  readonly unexplained?: readonly { readonly number: number; readonly times: number }[];
  /** None where statements run on the calling thread. */
  readonly bulkheads: Readonly<Record<string, BulkheadLoad>>;
}

export interface Permissions {
  /** Of the tables asked for. Without a column: the whole table. */
  readonly unreadable: readonly { readonly table: string; readonly column?: string }[];
  /** Beyond reading: permissions on the whole database (`INSERT`), and on tables (`UPDATE on PERSON`). */
  readonly writes: readonly string[];
}

/** What an engine knows of a table beyond its columns, for people who look at a database. */
export interface TableSurvey {
  /** Undefined: the engine keeps no number, and to count could take any time. */
  readonly rows: TableRows | undefined;
  /** Those that the table declares. */
  readonly foreignKeys: readonly ForeignKey[];
}

export interface TableRows {
  readonly count: number;
  /** `exact`: counted; `about`: by the engine's statistics; `most`: there are no more. */
  readonly kind: 'exact' | 'about' | 'most';
}

export interface ForeignKey {
  readonly columns: readonly string[];
  /** The key of the other table in the catalog. */
  readonly table: string;
  /** As many as `columns`; none: the primary key of the other table. */
  readonly theirs: readonly string[];
}

export interface IndexToTry {
  /** As statements name it. */
  readonly table: string;
  /** CREATE INDEX */
  readonly statement: string;
}

export interface Database {
  /** The name of its engine (engines.ts). */
  readonly engine: string;
  render(plan: SqlPlan, placeholders?: PlaceholderValues, now?: number): Statement;
  /** All rows of a bounded plan, at once where statements run on the calling thread. Rejects with DatabaseError. */
  query(plan: SqlPlan, options?: QueryOptions): Awaitable<readonly Row[]>;
  /**
   * The rows of a bounded plan in lists of `size`, fetched from the server as they are taken: what nobody asks for
   * stays there. Only the last list is shorter. An engine whose open statement keeps writers waiting ends after a full
   * list; the caller goes on behind it with a further plan. Ending the iteration early cancels the statement. Throws
   * DatabaseError.
   */
  stream(plan: SqlPlan, size: number, options?: QueryOptions): AsyncIterable<readonly Row[]>;
  /** Columns, types, keys and indexes of a part of the schema, or of all of it. What is not there is left out. */
  catalog(part?: CatalogPart): Promise<Catalog>;
  /**
   * The catalog with the form in which the rows of its columns of dates, times and numbers are written, of an engine
   * that keeps whatever it is given. Columns that are not asked for, by table and column in lower case, count as
   * written in any form.
   */
  forms?(catalog: Catalog, isAsked: (table: string, column: string) => boolean): Promise<Catalog>;
  /**
   * Whether columns are written otherwise than `forms` found them last. Cheap where nobody has written since, and where
   * a fetched row has shown it. Throws DatabaseError.
   */
  formsChanged?(): Promise<boolean>;
  /** Calls back at once when a fetched row shows that a column is written otherwise than `forms` found it. */
  onFormDisproved?(heard: () => void): void;
  /**
   * Sizes and declared foreign keys of the tables of a catalog, by its keys. Rows come from the engine's statistics; at
   * most a few thousand of a table are counted. Rejects with DatabaseError.
   */
  survey?(catalog: Catalog): Promise<ReadonlyMap<string, TableSurvey>>;
  /** What the login may do with these tables, as far as the engine has logins. */
  permissions(tables: readonly string[]): Promise<Permissions>;
  /** The index or scan that would serve a statement, as the engine says it, one line each. */
  explain(plan: SqlPlan, placeholders?: PlaceholderValues, now?: number): Promise<readonly string[]>;
  /**
   * What `explain` would tell if indexes were there, those of other tables left aside: on a copy of the schema, nothing
   * is made in the database. Undefined: this schema cannot be copied. Absent: the engine has no such estimate.
   */
  whatIf?(
    plan: SqlPlan,
    indexes: readonly IndexToTry[],
    placeholders?: PlaceholderValues,
    now?: number,
  ): Promise<readonly string[] | undefined>;
  /** How busy the way to it is; asks nothing. */
  load(): DatabaseLoad;
  /** One cheap statement; throws if the database does not answer. */
  ping(): Promise<void>;
  /** Lets go of what is kept for statements that come again; they may. */
  forget?(): void;
  close(): Promise<void>;
}

/** How the engine or its driver numbers an error. Never its words, which may hold a value. */
export interface EngineCode {
  /** SQLite's name of a result (`SQLITE_ERROR`), or the driver's of an error of its own (`ESOCKET`). */
  readonly code?: string;
  /** SQL Server's number of an error, SQLite's extended result code. */
  readonly number?: number;
  /** SQL Server's: of the places that raise this number, which one did. */
  readonly state?: number;
}

interface DatabaseErrorOptions {
  readonly cause?: unknown;
  readonly retryAfter?: number;
  readonly engine?: EngineCode;
  readonly missing?: boolean;
  readonly words?: string | undefined;
  readonly told?: string | undefined;
}

/** What may be logged of a DatabaseError. */
export interface DescribedDatabaseError extends EngineCode {
  readonly reason: DatabaseError['reason'];
  readonly database: string;
  readonly mapping?: string;
}

/** `told` of a statement that was ended before its answer was there. */
export const TOO_LONG = 'The database is too slow for this';

/**
 * `unavailable`: away or overloaded (503, with seconds to wait); `cancelled`: by the caller's signal; `failed`: the
 * rest.
 */
export class DatabaseError extends Error {
  readonly reason: 'unavailable' | 'cancelled' | 'failed';
  readonly retryAfter: number | undefined;
  readonly engine: EngineCode;
  /**
   * The statement names a table or a column that is not there, or that may not be read: the schema is not what it was.
   */
  readonly missing: boolean;
  /**
   * What the engine says against the statement itself, before it looked at a row: names and syntax, never a row's
   * value. For whoever writes the mappings; it is not logged.
   */
  readonly words: string | undefined;
  /**
   * Of `unavailable`, where the database is there and busy: the reason in words for whoever asked, without names of the
   * database. Undefined: it is away.
   */
  readonly told: string | undefined;
  /** That the statement was for; the door that knows it sets it. */
  mapping: string | undefined;

  /** `message` names the failure and never a value. */
  constructor(
    reason: 'unavailable' | 'cancelled' | 'failed',
    message: string,
    { cause, retryAfter, engine = {}, missing = false, words, told }: DatabaseErrorOptions = {},
  ) {
    super(message, { cause });
    this.name = 'DatabaseError';
    this.reason = reason;
    this.retryAfter = retryAfter;
    this.engine = engine;
    this.missing = missing;
    this.words = words;
    this.told = told;
  }

  /** None of it holds a value. */
  describe(): DescribedDatabaseError {
    const mapping = this.mapping === undefined ? {} : { mapping: this.mapping };
    return { reason: this.reason, database: this.message, ...this.engine, ...mapping };
  }
}

/**
 * A row that an export fetched is written otherwise than `forms` found its column: the mappings have to be made anew
 * before it is read. Rows that were fetched before have the form that was found.
 */
export class FormDisproved extends Error {
  constructor() {
    super('rows are written in another form than before');
    this.name = 'FormDisproved';
  }
}

/** A statement with more parameters than the engine takes: whoever asked can ask for less at a time. */
export class StatementTooLarge extends DatabaseError {
  constructor() {
    super('failed', 'the statement has more parameters than the database supports');
    this.name = 'StatementTooLarge';
  }
}

/**
 * Passes the deadline of a request to statements. A signal aborts other work when the time is over; a statement on the
 * calling thread blocks the signal and must know the instant beforehand. In: a signal, and an instant of
 * performance.now(). Out: that instant.
 */
const instants = new WeakMap<AbortSignal, number>();

/** The work that the signal ends is over at `instant`; where several wait for it, at the latest of theirs. */
export function endsAt(signal: AbortSignal, instant: number): void {
  instants.set(signal, Math.max(instant, instants.get(signal) ?? instant));
}

/** Undefined where nobody has said so. */
export function deadlineOf(signal: AbortSignal | undefined): number | undefined {
  return signal && instants.get(signal);
}

/** A signal that ends after so many milliseconds, or with `outer`. */
export function within(milliseconds: number, outer?: AbortSignal): AbortSignal {
  const time = AbortSignal.timeout(Math.ceil(milliseconds));
  const signal = outer ? AbortSignal.any([outer, time]) : time;
  endsAt(signal, Math.min(performance.now() + milliseconds, deadlineOf(outer) ?? Number.POSITIVE_INFINITY));
  return signal;
}

/** Whether an error says that a statement was ended: its time was over, or its signal aborted. */
export function wasEnded(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (error.told === TOO_LONG || error.reason === 'cancelled');
}

/** The error of whoever has gone meanwhile. */
export function cancelled(): DatabaseError {
  return new DatabaseError('cancelled', 'the query was cancelled');
}
