/** Defines what the stages of one request share when they query the database. */
import { type Awaitable, andEnd } from '../common/awaitable.ts';
import type { Registry } from '../mapping/model.ts';
import { type Stages, UNTIMED } from '../observe/statements.ts';
import type { Environment } from '../plan/environment.ts';
import type { Database, QueryOptions } from '../sql/database.ts';
import type { PlaceholderValues, Row, SqlPlan } from '../sql/plan.ts';
import type { Shapes } from './shapes.ts';

/** The database as one request sees it: every statement is counted, and ends with the request. */
export interface Session {
  readonly registry: Registry;
  readonly env: Environment;
  readonly shapes: Shapes;
  readonly stages: Stages;
  /**
   * Runs a plan. `mapping`: the one that the rows belong to or are needed for. `placeholders`: for a plan that is
   * reused.
   */
  query(plan: SqlPlan, mapping: string, placeholders?: PlaceholderValues): Awaitable<readonly Row[]>;
  /** Like Database.stream; `mapping` as in `query`. */
  stream(plan: SqlPlan, size: number, mapping: string, placeholders?: PlaceholderValues): AsyncIterable<readonly Row[]>;
}

export interface SessionOptions extends Pick<QueryOptions, 'signal' | 'bulkhead'> {
  readonly onQuery?: ((plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => void) | undefined;
  readonly stages?: Stages | undefined;
}

/** Limit of concurrent statements of a request, so that one with a hundred statements leaves connections to others. */
const STATEMENTS_AT_ONCE = 4;

export function openSession(
  database: Database,
  env: Environment,
  shapes: Shapes,
  { stages = UNTIMED, onQuery, signal, bulkhead }: SessionOptions,
): Session {
  const inTurn = limitConcurrency(STATEMENTS_AT_ONCE);
  const { now } = env;
  return {
    registry: env.registry,
    env,
    shapes,
    stages,
    query(plan, mapping, placeholders) {
      onQuery?.(plan, placeholders, now);
      const how = { signal, bulkhead, mapping, placeholders, now };
      return inTurn(() => stages.statement(mapping, () => database.query(plan, how)));
    },
    stream(plan, size, mapping, placeholders) {
      onQuery?.(plan, placeholders, now);
      return database.stream(plan, size, { signal, bulkhead, mapping, placeholders, now });
    },
  };
}

/** Returns a function that runs at most `most` tasks at a time; others wait (FIFO). */
export function limitConcurrency(most: number): <T>(work: () => Awaitable<T>) => Awaitable<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    // Passes the free slot straight to the next waiter, so that a later caller cannot take it.
    if (next) next();
    else running--;
  };
  return work => {
    if (running === most) return new Promise<void>(resolve => waiting.push(resolve)).then(() => andEnd(work, leave));
    running++;
    return andEnd(work, leave);
  };
}
