/**
 * Adapts a SQL Server to Database. In: an address. Out: rows through two bulkheads, each with its own connections,
 * behind one circuit breaker. It sends only SELECTs and the settings of its sessions.
 */

import { createBreaker } from '../breaker.ts';
import { type Bulkhead, createBulkhead } from '../bulkhead.ts';
import { type Database, DatabaseError, type QueryOptions } from '../database.ts';
import type { Dialect } from '../dialect.ts';
import { listOf } from '../list-of.ts';
import { createLockedTables, type LockedTables, lockedError } from '../locked.ts';
import type { Row, SqlPlan, Statement } from '../plan.ts';
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
  /** Milliseconds between two looks whether a database that was away is back. */
  readonly probePause?: number;
  /** Milliseconds without an answer after which it is looked whether the server is there. */
  readonly timeLimit?: number;
  /** Servers that are almost SQL Server spell some things in another way. */
  readonly dialect?: Dialect;
}

interface OpenLane {
  readonly bulkhead: Bulkhead;
  readonly source: Source;
  readonly locks: LockedTables;
  readonly limits: BulkheadLimits;
}

const PROBE_PAUSE = 1000;
/** With the time that a login may take, less than two seconds. */
const TIME_LIMIT = 400;
/** Of the time that a login may take. */
const PROBE_SHARE = 0.8;
const PING: Statement = { text: 'SELECT 1', parameters: [] };

/** Opens a SQL Server. Throws DatabaseError where it cannot be reached, refuses the login or has no such database. */
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

/** What is sent, and which tables it reads. */
interface Asking {
  readonly statement: Statement;
  readonly tables: readonly string[];
  /** Places in a row that hold floats of 32 bits, which the driver makes doubles. */
  readonly singles?: readonly number[];
}

/** A try to have a statement answered. */
interface Try {
  readonly first: boolean;
  /** The isolation level of sessions when it began. */
  readonly begun: Isolation;
}

/** After which there is none. */
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
  // With that time before it, and the login that it may need, less than two seconds.
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
      // The lock that others found while this one waited; the one that tries them would find itself.
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

  /** Sessions that begin from now on. */
  const readCommitted = (): void => {
    if (level === 'READ COMMITTED') return;
    level = 'READ COMMITTED';
    versions = false;
    for (const { source } of [bulkheads.interactive, bulkheads.export]) source.renew();
  };

  /** Returns where the same is worth a second try; else throws what the caller is told. */
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
    // It happens once to a database, whatever made this the second try.
    if (refused && begun === 'SNAPSHOT') return;
    if (locked) {
      locks.locked(tables);
      throw lockedError(tables, error);
    }
    // What happened to one connection is no outage while others work.
    const isOutage = outage && source.connections() === 0;
    if ((again || (unconnected && !isOutage)) && first) return;
    if (isOutage && !closed) breaker.trip();
    throw error;
  };

  const run = async (
    { statement, tables, singles }: Asking,
    name: BulkheadName,
    signal?: AbortSignal,
  ): Promise<readonly Row[]> => {
    checkOpen();
    for (let first = true; ; first = false) {
      const begun = level;
      try {
        const { source, options, locks } = await enter(name, tables, signal);
        const rows = await stalls.during(silent => source.run(statement, watched(options, silent)));
        locks.answered(tables);
        return withSingles(rows, singles);
      } catch (thrown) {
        judge(thrown, name, tables, { first, begun }, signal);
      }
    }
  };

  async function* stream(
    { statement, tables, singles }: Asking,
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
        const lists = stalls.duringEach(silent => source.stream(statement, size, watched(options, silent)));
        for await (const rows of lists) {
          if (given === 0) locks.answered(tables);
          given += rows.length;
          yield withSingles(rows, singles);
        }
        return;
      } catch (thrown) {
        // Rows that were given cannot be taken back: the caller has to go on behind them.
        judge(thrown, name, tables, given === 0 ? { first, begun } : LAST, signal);
      }
    }
  }

  /** Of the catalog, whose tables nobody locks for long. */
  const select = (statement: Statement): Promise<readonly Row[]> => run({ statement, tables: [] }, 'interactive');
  const withheld = createWithheld({ read: part => readCatalog(select, part) });
  const statementOf = renderedBy(dialect);
  const asking = (plan: SqlPlan, options?: QueryOptions): Asking => {
    withheld.check(plan);
    const statement = statementOf(plan, options?.placeholders, options?.now);
    return { statement, tables: tablesOf(plan), singles: singlesIn(plan) };
  };
  return {
    engine: 'mssql',
    render: statementOf,
    query: (plan, options) => run(asking(plan, options), options?.bulkhead ?? 'interactive', options?.signal),
    async *stream(plan, size, options) {
      // Without versions an open statement holds locks that writers wait for: its rows come a list at a time.
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
 * A statement that waits for a lock keeps a connection from those in the queue: a quarter of their time is the most.
 */
function lockTimeoutOf({ lockTimeout }: SqlServerAddress, { wait }: BulkheadLimits): number {
  return Math.max(1, Math.min(lockTimeout, Math.floor(wait / 4)));
}

/** Numbers that are told by /ready: those that came first, so many at most. */
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

/** The options of a statement that ends when the server has fallen silent, too. */
function watched(options: RunOptions, silent: AbortSignal): RunOptions {
  return { ...options, signal: options.signal ? AbortSignal.any([options.signal, silent]) : silent };
}
