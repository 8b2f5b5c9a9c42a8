/**
 * A SQL Server as a Database. In: an address. Out: rows through two lanes, each with its own connections, behind one
 * breaker. It sends SELECTs and the settings of its sessions, and nothing else.
 */

import { createBreaker } from '../breaker.ts';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database.ts';
import type { Dialect } from '../dialect.ts';
import { createLane, type Lane } from '../lane.ts';
import type { Row, Statement } from '../plan.ts';
import { createSilence } from '../silence.ts';
import { renderedBy } from '../statement.ts';
import type { LaneLimits, SqlServerAddress } from './address.ts';
import { readCatalog } from './catalog.ts';
import { createPool, type Isolation } from './connection.ts';
import { MSSQL } from './dialect.ts';
import { explainStatement } from './explain.ts';
import { readFailure } from './failure.ts';
import { readPermissions } from './permissions.ts';
import { askIsolation } from './questions.ts';
import { createSource, type RunOptions, type Source } from './source.ts';

export interface OpenOptions {
  /** Milliseconds between two looks whether a database that was away is back. */
  readonly probePause?: number;
  /** Milliseconds without an answer after which it is looked whether the server is there. */
  readonly patience?: number;
  /** Servers that are almost SQL Server spell some things in another way. */
  readonly dialect?: Dialect;
}

interface OpenLane {
  readonly lane: Lane;
  readonly source: Source;
  readonly limits: LaneLimits;
}

const PROBE_PAUSE = 1000;
/** With the time that a login may take, less than two seconds. */
const PATIENCE = 400;
const PING: Statement = { text: 'SELECT 1', parameters: [] };

/** Opens a SQL Server. Throws DatabaseError where it cannot be reached, refuses the login or has no such database. */
export async function openMssql(address: SqlServerAddress, options: OpenOptions = {}): Promise<Database> {
  const ask = createSource(() => createPool(address, 1, 'READ COMMITTED'));
  const asked = (statement: Statement): Promise<readonly Row[]> =>
    ask.run(statement, { timeout: address.connectTimeout }).catch(error => {
      throw error instanceof DatabaseError ? error : readFailure(error).error;
    });
  let isolation: Isolation;
  try {
    isolation = await askIsolation(asked);
  } finally {
    await ask.close();
  }
  return databaseOf(address, isolation, options);
}

function databaseOf(
  address: SqlServerAddress,
  isolation: Isolation,
  { probePause: pause = PROBE_PAUSE, patience = PATIENCE, dialect = MSSQL }: OpenOptions,
): Database {
  let level = isolation;
  const openLane = (limits: LaneLimits): OpenLane => ({
    lane: createLane(limits),
    source: createSource(() => createPool(address, limits.size, level)),
    limits,
  });
  const lanes = { interactive: openLane(address.interactive), export: openLane(address.export) };
  const probing = createSource(() => createPool(address, 1, level));
  const probe = async (): Promise<void> => {
    await probing.run(PING, { timeout: address.connectTimeout });
  };
  const breaker = createBreaker({ probe, pause });
  const silence = createSilence({ probe, patience, onSilence: () => breaker.trip() });
  let closed = false;

  type Lanes = keyof typeof lanes;

  const enter = async (name: Lanes, signal?: AbortSignal): Promise<readonly [Source, RunOptions]> => {
    const { lane, source, limits } = lanes[name];
    return [source, { signal, timeout: limits.timeout, onFree: await lane.enter(signal) }];
  };

  const checkOpen = (): void => {
    if (closed) throw new DatabaseError('unavailable', 'the database was closed', { retryAfter: 5 });
    breaker.check();
  };

  /** Sessions that begin from now on. */
  const readCommitted = (): void => {
    if (level === 'READ COMMITTED') return;
    level = 'READ COMMITTED';
    for (const { source } of [lanes.interactive, lanes.export]) source.renew();
  };

  /** Returns where the same is worth a second try; else throws what the caller is told. */
  const judge = (thrown: unknown, retry: boolean, signal?: AbortSignal): void => {
    if (thrown instanceof DatabaseError) throw thrown;
    if (signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
    if (thrown instanceof TypeError) throw new DatabaseError('failed', thrown.message);
    const { error, again, outage, isolation: refused } = readFailure(thrown);
    if (refused) readCommitted();
    if (again && retry) return;
    if (outage && !closed) breaker.trip();
    throw error;
  };

  const run = async (statement: Statement, name: Lanes, signal?: AbortSignal): Promise<readonly Row[]> => {
    checkOpen();
    for (let first = true; ; first = false) {
      try {
        const [source, options] = await enter(name, signal);
        return await silence.during(silent => source.run(statement, watched(options, silent)));
      } catch (thrown) {
        judge(thrown, first, signal);
      }
    }
  };

  async function* stream(
    statement: Statement,
    size: number,
    name: Lanes,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    checkOpen();
    let given = 0;
    for (let first = true; ; first = false) {
      try {
        const [source, options] = await enter(name, signal);
        const lists = silence.duringEach(silent => source.stream(statement, size, watched(options, silent)));
        for await (const rows of lists) {
          given += rows.length;
          yield rows;
        }
        return;
      } catch (thrown) {
        // Rows that were given cannot be taken back: the caller has to go on behind them.
        judge(thrown, first && given === 0, signal);
      }
    }
  }

  const statementOf = renderedBy(dialect);
  return {
    engine: 'mssql',
    render: statementOf,
    query: (plan, options) => run(statementOf(plan, options?.places), options?.lane ?? 'interactive', options?.signal),
    stream: (plan, size, options) =>
      stream(statementOf(plan, options?.places), size, options?.lane ?? 'interactive', options?.signal),
    catalog: part => readCatalog(statement => run(statement, 'interactive'), part),
    permissions: tables => readPermissions(statement => run(statement, 'interactive'), tables),
    explain: (plan, places) => explainStatement(() => createPool(address, 1, level), statementOf(plan, places)),
    load: () => ({
      away: breaker.isOpen(),
      lanes: { interactive: lanes.interactive.lane.load(), export: lanes.export.lane.load() },
    }),
    async ping() {
      await run(PING, 'interactive');
    },
    async close() {
      if (closed) return;
      closed = true;
      breaker.close();
      await Promise.all([lanes.interactive.source, lanes.export.source, probing].map(source => source.close()));
    },
  };
}

/** The options of a statement that ends when the server has fallen silent, too. */
function watched(options: RunOptions, silent: AbortSignal): RunOptions {
  return { ...options, signal: options.signal ? AbortSignal.any([options.signal, silent]) : silent };
}
