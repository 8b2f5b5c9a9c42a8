/**
 * A database whose statements are counted. In: a database, and who counts. Out: the same, told of each statement with the
 * mapping that it is for, its outcome and its time.
 */
import { performance } from 'node:perf_hooks';
import { type Database, DatabaseError } from '../sql/database.ts';
import type { Metrics, StatementOutcome } from './metrics.ts';

/** What is asked for no mapping: whether the database is there, whether a table has changed. */
const NO_MAPPING = 'none';

export function countStatements(database: Database, { statement }: Pick<Metrics, 'statement'>): Database {
  return {
    ...database,
    async query(plan, options) {
      const mapping = options?.mapping ?? NO_MAPPING;
      const begun = performance.now();
      let outcome: StatementOutcome = 'answered';
      try {
        return await database.query(plan, options);
      } catch (error) {
        outcome = error instanceof DatabaseError ? error.reason : 'failed';
        throw error;
      } finally {
        statement(mapping, outcome, performance.now() - begun);
      }
    },
  };
}
