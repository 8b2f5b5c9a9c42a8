/**
 * Measures where the time of a request goes. In: work, by stage. Out: milliseconds per stage and the number of
 * statements, for the log, `Server-Timing` and metrics; and events on the diagnostics channels `lintel:parse`,
 * `lintel:plan`, `lintel:sql` and `lintel:write`, for example for an OpenTelemetry SDK. None contains a value.
 * https://nodejs.org/api/diagnostics_channel.html#class-tracingchannel
 */
import { tracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { type Awaitable, andEnd } from '../common/awaitable.ts';

/** The text of a query → typed query; → plan; statements, rows fetched; rows → text. */
export const STAGES = ['parse', 'plan', 'sql', 'write'] as const;

export type Stage = (typeof STAGES)[number];

/** What subscribers of the channels are told. */
export interface StageEvent {
  /** The request's id; '' outside of requests. */
  readonly request: string;
  /** Of `lintel:sql`: the mapping that the statement is for. */
  readonly mapping?: string;
}

export interface Stages {
  /** Runs `work` as part of a stage. Stages do not nest, and are never waited in: `work` is synchronous. */
  time<T>(stage: Exclude<Stage, 'sql'>, work: () => T): T;
  /** A statement from its sending to its last row. While several are under way, time counts once. */
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

/** For work that nobody times. */
export const UNTIMED: Stages = { time: (_stage, work) => work(), statement: (_mapping, run) => run() };

/** Runs `work` as part of a stage of whoever has stages. */
export function timed<T>(
  { stages = UNTIMED }: { readonly stages?: Stages },
  stage: 'parse' | 'write',
  work: () => T,
): T {
  return stages.time(stage, work);
}

/** `request`: its id. */
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
