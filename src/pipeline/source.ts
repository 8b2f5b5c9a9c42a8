/**
 * What the stages that touch the database work with.
 */
import type { Registry } from '../mapping/model.ts';
import { type Stages, UNTIMED } from '../observe/stages.ts';
import type { Environment } from '../plan/environment.ts';
import type { Database } from '../sql/database.ts';
import type { Places, Row, SqlPlan } from '../sql/plan.ts';
import type { Shapes } from './shapes.ts';
import { takeTurns } from './turns.ts';

/** The database as one request sees it: every statement is counted and dies with the request. */
export interface Session {
  readonly registry: Registry;
  readonly env: Environment;
  readonly shapes: Shapes;
  readonly stages: Stages;
  /** `mapping`: whose rows, or which the rows are needed for. `places`: of a plan that is used again. */
  query(plan: SqlPlan, mapping: string, places?: Places): Promise<readonly Row[]>;
  /** As Database.stream; `mapping` as in `query`. */
  stream(plan: SqlPlan, size: number, mapping: string, places?: Places): AsyncIterable<readonly Row[]>;
}

/** One request that asks for a hundred things leaves connections to the others. */
const STATEMENTS_AT_ONCE = 4;

export function openSession(
  database: Database,
  env: Environment,
  shapes: Shapes,
  options: {
    readonly signal?: AbortSignal;
    readonly lane?: 'interactive' | 'export';
    readonly onQuery?: (plan: SqlPlan, places?: Places) => void;
    readonly stages?: Stages;
  },
): Session {
  const { stages = UNTIMED } = options;
  const asked = {
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.lane ? { lane: options.lane } : {}),
  };
  const inTurn = takeTurns(STATEMENTS_AT_ONCE);
  return {
    registry: env.registry,
    env,
    shapes,
    stages,
    query(plan, mapping, places) {
      options.onQuery?.(plan, places);
      const how = { ...asked, mapping, ...(places ? { places } : {}) };
      return inTurn(() => stages.statement(mapping, () => database.query(plan, how)));
    },
    stream(plan, size, mapping, places) {
      options.onQuery?.(plan, places);
      return database.stream(plan, size, { ...asked, mapping, ...(places && { places }) });
    },
  };
}
