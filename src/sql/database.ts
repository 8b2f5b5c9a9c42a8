/**
 * The one door to a legacy database. Each engine's folder has an adapter; all of them only ever send SELECT.
 */
import type { Catalog, CatalogPart } from './catalog.ts';
import type { Places, Row, SqlPlan, Statement } from './plan.ts';

export interface QueryOptions {
  /** Aborting it cancels the statement on the server. */
  readonly signal?: AbortSignal | undefined;
  /** The export lane never delays the interactive one. Default `interactive`. */
  readonly lane?: 'interactive' | 'export' | undefined;
  /** Which mapping the rows are for; adapters do not look at it. */
  readonly mapping?: string;
  /** Values of the places of a plan that is used again; without them it is rendered for this use alone. */
  readonly places?: Places | undefined;
}

export interface LaneLoad {
  readonly size: number;
  readonly taken: number;
  readonly waiting: number;
}

export interface DatabaseLoad {
  /** It was away when it was asked last, and is asked by a probe alone until that is answered. */
  readonly away: boolean;
  /** None where statements run on the calling thread. */
  readonly lanes: Readonly<Record<string, LaneLoad>>;
}

export interface Permissions {
  /** Of the tables asked for. Without a column: the whole table. */
  readonly unreadable: readonly { readonly table: string; readonly column?: string }[];
  /** Beyond reading: permissions on the whole database (`INSERT`), and on tables (`UPDATE on PERSON`). */
  readonly writes: readonly string[];
}

export interface Database {
  readonly engine: 'sqlite' | 'mssql';
  render(plan: SqlPlan, places?: Places): Statement;
  /** All rows of a bounded plan. Throws DatabaseError. */
  query(plan: SqlPlan, options?: QueryOptions): Promise<readonly Row[]>;
  /**
   * The rows of a bounded plan in lists of `size`, fetched from the server as they are taken: what nobody asks for stays
   * there. Only the last list is shorter. An engine whose open statement keeps writers waiting ends after a full list; the
   * caller goes on behind it with a further plan. Ending the iteration early cancels the statement. Throws DatabaseError.
   */
  stream(plan: SqlPlan, size: number, options?: QueryOptions): AsyncIterable<readonly Row[]>;
  /** Columns, types, keys and indexes of a part of the schema, or of all of it. What is not there is left out. */
  catalog(part?: CatalogPart): Promise<Catalog>;
  /** What the login may do with these tables, as far as the engine has logins. */
  permissions(tables: readonly string[]): Promise<Permissions>;
  /** The index or scan that would serve a statement, as the engine says it, one line each. */
  explain(plan: SqlPlan, places?: Places): Promise<readonly string[]>;
  /** How busy the way to it is; asks nothing. */
  load(): DatabaseLoad;
  /** One cheap statement; throws if the database does not answer. */
  ping(): Promise<void>;
  /** Lets go of what is kept for statements that come again; they may. */
  forget?(): void;
  close(): Promise<void>;
}

/** `unavailable`: away or overloaded (503, with seconds to wait); `cancelled`: by the caller's signal; `failed`: the rest. */
export class DatabaseError extends Error {
  readonly reason: 'unavailable' | 'cancelled' | 'failed';
  readonly retryAfter: number | undefined;

  /** `message` names the failure and never a value. */
  constructor(
    reason: 'unavailable' | 'cancelled' | 'failed',
    message: string,
    options?: { cause?: unknown; retryAfter?: number },
  ) {
    super(message, { cause: options?.cause });
    this.name = 'DatabaseError';
    this.reason = reason;
    this.retryAfter = options?.retryAfter;
  }
}

/** A statement with more parameters than the engine takes: whoever asked can ask for less at a time. */
export class StatementTooLarge extends DatabaseError {
  constructor() {
    super('failed', 'the statement has more parameters than the database takes');
    this.name = 'StatementTooLarge';
  }
}
