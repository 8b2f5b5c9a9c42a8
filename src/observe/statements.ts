/**
 * Counts the statements of a database, and measures how the time of a request is spent. In: a database, or work by
 * stage. Out: mapping, bulkhead, outcome and time of each statement; milliseconds per stage for the log,
 * `Server-Timing` and metrics; events on the diagnostics channels `lintel:parse`, `lintel:plan`, `lintel:sql` and
 * `lintel:write`, for example for an OpenTelemetry SDK. None contains a value.
 * https://nodejs.org/api/diagnostics_channel.html#class-tracingchannel
 */

import { tracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { type Awaitable, andEnd } from '../common/awaitable.ts';
import { type Database, DatabaseError, type QueryOptions } from '../sql/database.ts';

/** `missing`: failed because the schema lacks something that the statement names. */
export type StatementOutcome = 'answered' | 'cancelled' | 'unavailable' | 'failed' | 'missing';

/** Statements that have ended. */
export interface StatementCount {
  readonly mapping: string;
  readonly bulkhead: 'interactive' | 'export';
  readonly outcome: StatementOutcome;
  readonly statements: number;
  /** Total time until their rows were complete. */
  readonly milliseconds: number;
}

export type CountStatements = (ended: StatementCount) => void;

/** Label of statements without a mapping: whether the database is reachable, whether a table has changed. */
const NO_MAPPING = 'none';

/**
 * Counts the statements of a database. A stream counts once, at its end, with the time of waiting for its lists; a
 * stream that is left early counts as cancelled.
 */
export function countStatements(database: Database, count: CountStatements): Database {
  const countOne = (options: QueryOptions | undefined, outcome: StatementOutcome, milliseconds: number): void => {
    const { mapping = NO_MAPPING, bulkhead = 'interactive' } = options ?? {};
    count({ mapping, bulkhead, outcome, statements: 1, milliseconds });
  };
  return {
    ...database,
    query(plan, options) {
      const begun = performance.now();
      return andEnd(
        () => database.query(plan, options),
        error =>
          countOne(options, error === undefined ? 'answered' : outcomeOf(error, options), performance.now() - begun),
      );
    },
    async *stream(plan, size, options) {
      const lists = database.stream(plan, size, options)[Symbol.asyncIterator]();
      let outcome: StatementOutcome = 'cancelled';
      let waited = 0;
      const next = async () => {
        const begun = performance.now();
        try {
          return await lists.next();
        } catch (error) {
          outcome = outcomeOf(error, options);
          throw error;
        } finally {
          waited += performance.now() - begun;
        }
      };
      try {
        for (let list = await next(); !list.done; list = await next()) yield list.value;
        if (outcome === 'cancelled') outcome = 'answered';
      } finally {
        countOne(options, outcome, waited);
        await lists.return?.();
      }
    },
  };
}

function outcomeOf(error: unknown, options: QueryOptions | undefined): StatementOutcome {
  if (!(error instanceof DatabaseError)) return 'failed';
  error.mapping ??= options?.mapping;
  return error.missing ? 'missing' : error.reason;
}

export interface StatementTally {
  readonly count: CountStatements;
  /** Returns the counts since the last call; at most one per mapping, bulkhead and outcome. */
  take(): readonly StatementCount[];
}

/** Collects the counts of a thread; another thread requests them from time to time. */
export function tallyStatements(): StatementTally {
  const sums = new Map<string, StatementCount>();
  return {
    count(ended) {
      const key = `${ended.mapping} ${ended.bulkhead} ${ended.outcome}`;
      const known = sums.get(key);
      sums.set(key, {
        ...ended,
        statements: ended.statements + (known?.statements ?? 0),
        milliseconds: ended.milliseconds + (known?.milliseconds ?? 0),
      });
    },
    take() {
      const taken = [...sums.values()];
      sums.clear();
      return taken;
    },
  };
}

/** Parse: text of a query → typed query. Plan: → plan. SQL: statements and fetching rows. Write: rows → text. */
export const STAGES = ['parse', 'plan', 'sql', 'write'] as const;

export type Stage = (typeof STAGES)[number];

/** The event for subscribers of the channels. */
export interface StageEvent {
  /** The request's id; '' outside of requests. */
  readonly request: string;
  /** For `lintel:sql`: the mapping that the statement reads. */
  readonly mapping?: string;
}

export interface Stages {
  /** Runs `work` as part of a stage. Stages do not nest, and `work` must be synchronous. */
  time<T>(stage: Exclude<Stage, 'sql'>, work: () => T): T;
  /** Runs a statement, from sending it to its last row. Concurrent statements count their time only once. */
  statement<T>(mapping: string, run: () => Awaitable<T>): Awaitable<T>;
}

export interface Spent {
  /** Milliseconds. */
  readonly stages: Readonly<Record<Stage, number>>;
  readonly statements: number;
}

export interface Stopwatch extends Stages {
  spent(): Spent;
}

const CHANNELS = {
  parse: tracingChannel<StageEvent>('lintel:parse'),
  plan: tracingChannel<StageEvent>('lintel:plan'),
  sql: tracingChannel<StageEvent>('lintel:sql'),
  write: tracingChannel<StageEvent>('lintel:write'),
};

/** For work that is not timed. */
export const UNTIMED: Stages = { time: (_stage, work) => work(), statement: (_mapping, run) => run() };

/** Runs `work` as part of a stage; untimed if there are no `stages`. */
export function timed<T>(
  { stages = UNTIMED }: { readonly stages?: Stages },
  stage: 'parse' | 'write',
  work: () => T,
): T {
  return stages.time(stage, work);
}

/** Starts measuring. `request`: the request's id. */
export function startStopwatch(request: string): Stopwatch {
  const stages: Record<Stage, number> = { parse: 0, plan: 0, sql: 0, write: 0 };
  let statements = 0;
  let open = 0;
  let since = 0;
  return {
    time(stage, work) {
      const begun = performance.now();
      try {
        return CHANNELS[stage].hasSubscribers ? CHANNELS[stage].traceSync(work, { request }) : work();
      } finally {
        stages[stage] += performance.now() - begun;
      }
    },
    statement(mapping, run) {
      statements++;
      if (open++ === 0) since = performance.now();
      const { sql } = CHANNELS;
      return andEnd(sql.hasSubscribers ? () => sql.tracePromise(async () => run(), { request, mapping }) : run, () => {
        if (--open === 0) stages.sql += performance.now() - since;
      });
    },
    spent: () => ({ stages, statements }),
  };
}
