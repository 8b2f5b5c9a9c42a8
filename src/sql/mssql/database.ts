/**
 * Adapts a SQL Server to Database. In: an address. Out: rows through two bulkheads, each with its own connections,
 * behind one circuit breaker. It sends only SELECTs and the settings of its sessions.
 */

import { createBreaker } from '../breaker.ts';
import { type Bulkhead, createBulkhead } from '../bulkhead.ts';
import { type Database, DatabaseError, type QueryOptions } from '../database.ts';
import type { Dialect } from '../dialect.ts';
import { createLockedTables, type LockedTables, lockedError } from '../locked.ts';
import type { Row, SqlPlan, Statement } from '../plan.ts';
import { type ByteLimit, listOf } from '../row-limits.ts';
import { nearestSingle } from '../shared-functions.ts';
import { createStallDetector } from '../stall-detector.ts';
import { renderedBy } from '../statement.ts';
import { tablesOf } from '../tables.ts';
import type { BulkheadLimits, SqlServerAddress } from './address.ts';
import { readCatalog } from './catalog.ts';
import { createPool, createSingle, type Isolation } from './connection.ts';
import { MSSQL } from './dialect.ts';
import { decisionOf } from './error-numbers.ts';
import { explainStatement } from './explain.ts';
import { readFailure } from './failure.ts';
import { createLogins, type Logins } from './logins.ts';
import { readPermissions } from './permissions.ts';
import { createSource, type RunOptions, type Source } from './pool.ts';
import { askReading, type Reading } from './questions.ts';
import { surveyTables } from './survey.ts';
import { createWithheld } from './withheld.ts';

export interface OpenOptions {
  /** Milliseconds between two probes of a database that was unreachable. */
  readonly probePause?: number;
  /** Milliseconds without an answer after which a probe checks whether the server is reachable. */
  readonly timeLimit?: number;
  /** For servers that are almost SQL Server and write some SQL differently. */
  readonly dialect?: Dialect;
}

interface OpenLane {
  readonly bulkhead: Bulkhead;
  readonly source: Source;
  readonly locks: LockedTables;
  readonly limits: BulkheadLimits;
}

const PROBE_PAUSE = 1000;
/** Milliseconds. Together with the time limit of a login it is less than two seconds. */
const TIME_LIMIT = 400;
/** The probe's share of the time limit of a login. */
const PROBE_SHARE = 0.8;
const PING: Statement = { text: 'SELECT 1', parameters: [] };

/** Opens a SQL Server. Throws DatabaseError if it is unreachable, refuses the login or has no such database. */
export async function openMssql(address: SqlServerAddress, options: OpenOptions = {}): Promise<Database> {
  const { probePause: pause = PROBE_PAUSE } = options;
  const logins = createLogins({ pause });
  const ask = createSource(() => createSingle(address, 'READ COMMITTED', logins));
  const asked = (statement: Statement): Promise<readonly Row[]> =>
    ask.run(statement, { timeout: address.connectTimeout }).catch(error => {
      throw error instanceof DatabaseError ? error : readFailure(error).error;
    });
  let reading: Reading;
  try {
    reading = await askReading(asked);
  } catch (error) {
    logins.close();
    throw error;
  } finally {
    await ask.close();
  }
  return databaseOf(address, reading, logins, { ...options, probePause: pause });
}

/** A statement, and the tables that it reads. */
interface Asking {
  readonly statement: Statement;
  readonly tables: readonly string[];
  /** Positions of 32-bit floats in a row, which the driver returns as doubles. */
  readonly singles?: readonly number[];
  /** As in QueryOptions. */
  readonly bytes?: ByteLimit | undefined;
}

/** An attempt to get an answer. */
interface Try {
  readonly first: boolean;
  /** The isolation level of sessions when it began. */
  readonly begun: Isolation;
}

/** An attempt after which there is no other. */
const LAST: Try = { first: false, begun: 'READ COMMITTED' };

function databaseOf(
  address: SqlServerAddress,
  reading: Reading,
  logins: Logins,
  { probePause: pause = PROBE_PAUSE, timeLimit = TIME_LIMIT, dialect = MSSQL }: OpenOptions,
): Database {
  let { isolation: level, versions } = reading;
  const openBulkhead = (limits: BulkheadLimits): OpenLane => {
    const { size } = limits;
    const lockTimeout = lockTimeoutOf(address, limits);
    return {
      bulkhead: createBulkhead(limits),
      source: createSource(() => createPool(address, { size, isolation: level, lockTimeout }, logins)),
      locks: createLockedTables({ pause: lockTimeout }),
      limits,
    };
  };
  const bulkheads = { interactive: openBulkhead(address.interactive), export: openBulkhead(address.export) };
  const single = () => createSingle(address, level, logins);
  const probing = createSource(single);
  const probe = async (): Promise<void> => {
    await probing.run(PING, { timeout: address.connectTimeout });
  };
  const breaker = createBreaker({ probe, pause });
  const isThere = (failed: unknown): boolean => readFailure(failed).refused;
  // Together with the time before it, and a login if it needs one, less than two seconds.
  const longest = PROBE_SHARE * address.connectTimeout;
  const stalls = createStallDetector({ probe, longest, timeLimit, isThere, onStall: () => breaker.trip() });
  const unexplained = createTally();
  let closed = false;

  type BulkheadName = keyof typeof bulkheads;

  const enter = async (name: BulkheadName, tables: readonly string[], signal?: AbortSignal) => {
    const { bulkhead, source, limits, locks } = bulkheads[name];
    const tries = locks.check(tables);
    const onFree = await bulkhead.enter(signal, tables);
    try {
      // Another statement may have found the lock in the meantime. The one that tries the tables would find its own
      // mark.
      if (!tries) locks.check(tables);
    } catch (error) {
      onFree();
      throw error;
    }
    const options: RunOptions = { signal, timeout: limits.timeout, onFree };
    return { source, options, locks };
  };

  const checkOpen = (): void => {
    if (closed) throw new DatabaseError('unavailable', 'the database was closed', { retryAfter: 5 });
    breaker.check();
  };

  /** Changes the isolation level of later sessions. */
  const readCommitted = (): void => {
    if (level === 'READ COMMITTED') return;
    level = 'READ COMMITTED';
    versions = false;
    for (const { source } of [bulkheads.interactive, bulkheads.export]) source.renew();
  };

  /** Returns if the same statement is worth another attempt; else throws the error for the caller. */
  const judge = (
    thrown: unknown,
    name: BulkheadName,
    tables: readonly string[],
    { first, begun }: Try,
    signal?: AbortSignal,
  ): void => {
    if (thrown instanceof DatabaseError) throw thrown;
    if (signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
    if (thrown instanceof TypeError) throw new DatabaseError('failed', thrown.message);
    const { source, locks } = bulkheads[name];
    const { error, again, outage, isolation: refused, locked, unconnected } = readFailure(thrown);
    const { number } = error.engine;
    if (number !== undefined && decisionOf(number) === undefined) unexplained.add(number);
    if (refused) readCommitted();
    // Retries even after a first retry, because SNAPSHOT can be refused only once.
    if (refused && begun === 'SNAPSHOT') return;
    if (locked) {
      locks.locked(tables);
      throw lockedError(tables, error);
    }
    // A failure of one connection is no outage while others work.
    const isOutage = outage && source.connections() === 0;
    if ((again || (unconnected && !isOutage)) && first) return;
    if (isOutage && !closed) breaker.trip();
    throw error;
  };

  const run = async (
    { statement, tables, singles, bytes }: Asking,
    name: BulkheadName,
    signal?: AbortSignal,
  ): Promise<readonly Row[]> => {
    checkOpen();
    for (let first = true; ; first = false) {
      const begun = level;
      try {
        const { source, options, locks } = await enter(name, tables, signal);
        const rows = await stalls.during(silent => source.run(statement, { ...watched(options, silent), bytes }));
        locks.answered(tables);
        return withSingles(rows, singles);
      } catch (thrown) {
        judge(thrown, name, tables, { first, begun }, signal);
      }
    }
  };

  async function* stream(
    { statement, tables, singles, bytes }: Asking,
    size: number,
    name: BulkheadName,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    checkOpen();
    let given = 0;
    for (let first = true; ; first = false) {
      const begun = level;
      try {
        const { source, options, locks } = await enter(name, tables, signal);
        const lists = stalls.duringEach(silent =>
          source.stream(statement, size, { ...watched(options, silent), bytes }),
        );
        for await (const rows of lists) {
          if (given === 0) locks.answered(tables);
          given += rows.length;
          yield withSingles(rows, singles);
        }
        return;
      } catch (thrown) {
        // Rows that were yielded cannot be taken back, so the caller must continue after them.
        judge(thrown, name, tables, given === 0 ? { first, begun } : LAST, signal);
      }
    }
  }

  /** Reads the catalog, whose tables are never locked for long. */
  const select = (statement: Statement): Promise<readonly Row[]> => run({ statement, tables: [] }, 'interactive');
  const withheld = createWithheld({ read: part => readCatalog(select, part) });
  const statementOf = renderedBy(dialect);
  const asking = (plan: SqlPlan, options?: QueryOptions): Asking => {
    withheld.check(plan);
    const statement = statementOf(plan, options?.placeholders, options?.now);
    return {
      statement,
      tables: tablesOf(plan),
      singles: singlesIn(plan),
      bytes: options?.bytes,
    };
  };
  return {
    engine: 'mssql',
    render: statementOf,
    query: (plan, options) => run(asking(plan, options), options?.bulkhead ?? 'interactive', options?.signal),
    async *stream(plan, size, options) {
      // Without row versions an open statement holds locks that writers wait for, so each list of rows is a statement
      // of its own.
      const whole = versions ? plan : listOf(plan, size, options?.placeholders);
      yield* stream(asking(whole, options), size, options?.bulkhead ?? 'interactive', options?.signal);
    },
    catalog: part => withheld.catalog(part),
    survey: catalog => surveyTables(select, catalog),
    permissions: tables => readPermissions(select, tables),
    explain: (plan, placeholders, now) => explainStatement(single, statementOf(plan, placeholders, now)),
    load: () => ({
      away: breaker.isOpen(),
      unexplained: unexplained.counts(),
      bulkheads: { interactive: bulkheads.interactive.bulkhead.load(), export: bulkheads.export.bulkhead.load() },
    }),
    async ping() {
      await select(PING);
    },
    async close() {
      if (closed) return;
      closed = true;
      breaker.close();
      logins.close();
      await Promise.all([bulkheads.interactive.source, bulkheads.export.source, probing].map(source => source.close()));
    },
  };
}

function singlesIn({ columns }: SqlPlan): readonly number[] {
  return columns.flatMap(({ type }, at) => (type.kind === 'float' && type.single ? [at] : []));
}

function withSingles(rows: readonly Row[], singles: readonly number[] = []): readonly Row[] {
  if (singles.length === 0) return rows;
  return rows.map(row => {
    const cells = [...row];
    for (const at of singles) {
      const cell = cells[at];
      if (typeof cell === 'number') cells[at] = nearestSingle(cell);
    }
    return cells;
  });
}

/**
 * Returns the lock timeout: at most a quarter of the time that statements may wait in the queue, because a statement
 * that waits for a lock occupies a connection.
 */
function lockTimeoutOf({ lockTimeout }: SqlServerAddress, { wait }: BulkheadLimits): number {
  return Math.max(1, Math.min(lockTimeout, Math.floor(wait / 4)));
}

/** Limit of error numbers that /ready shows: the first ones. */
const TOLD = 20;

function createTally(): {
  add(number: number): void;
  counts(): readonly { readonly number: number; readonly times: number }[];
} {
  const counts = new Map<number, number>();
  return {
    add(number) {
      if (counts.has(number) || counts.size < TOLD) counts.set(number, (counts.get(number) ?? 0) + 1);
    },
    counts: () => [...counts].map(([number, times]) => ({ number, times })),
  };
}

/** Returns the options with a signal that also ends the statement when the server has stopped answering. */
function watched(options: RunOptions, silent: AbortSignal): RunOptions {
  return { ...options, signal: options.signal ? AbortSignal.any([options.signal, silent]) : silent };
}
