/**
 * Counts the statements of a database. In: a database, and a counter. Out: the same database; the counter is told
 * mapping, bulkhead, outcome and time of each statement, and errors name the mapping.
 */
import { performance } from 'node:perf_hooks';
import { andEnd } from '../common/awaitable.ts';
import { type Database, DatabaseError, type QueryOptions } from '../sql/database.ts';

/** `missing`: failed, for the schema has not what the statement names. */
export type StatementOutcome = 'answered' | 'cancelled' | 'unavailable' | 'failed' | 'missing';

/** Statements that have ended. */
export interface StatementCount {
  readonly mapping: string;
  readonly bulkhead: 'interactive' | 'export';
  readonly outcome: StatementOutcome;
  readonly statements: number;
  /** In all, until their rows were there. */
  readonly milliseconds: number;
}

export type CountStatements = (ended: StatementCount) => void;

/** What is asked for no mapping: whether the database is there, whether a table has changed. */
const NO_MAPPING = 'none';

/** A stream counts once, at its end, with the waits for its lists; what is left before its end was cancelled. */
export function countStatements(database: Database, count: CountStatements): Database {
  const tell = (options: QueryOptions | undefined, outcome: StatementOutcome, milliseconds: number): void => {
    const { mapping = NO_MAPPING, bulkhead = 'interactive' } = options ?? {};
    count({ mapping, bulkhead, outcome, statements: 1, milliseconds });
  };
  return {
    ...database,
    query(plan, options) {
      const begun = performance.now();
      return andEnd(
        () => database.query(plan, options),
        error => tell(options, error === undefined ? 'answered' : outcomeOf(error, options), performance.now() - begun),
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
        tell(options, outcome, waited);
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
  /** What was counted since it was taken last: as many as there are mappings, bulkheads and outcomes at most. */
  take(): readonly StatementCount[];
}

/** Counts of a thread that somebody else asks for now and then. */
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
