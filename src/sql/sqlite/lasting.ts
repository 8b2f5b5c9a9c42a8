/**
 * Statements that stay prepared. What SQLite needs while a statement runs it takes from 48 kB that a connection has at
 * hand, its lookaside; but so it does for statements that are prepared, and for values that are bound to them, and
 * after a few of them nothing is left: every statement of the connection then takes a fifth longer, for its memory
 * comes from malloc, under a lock. The flag against it, SQLITE_PREPARE_PERSISTENT, cannot be given to node:sqlite
 * (https://github.com/nodejs/node/pull/62757). In: a connection. Out: statements prepared while a row of another one
 * occupies the lookaside, and a way to let go of what is bound to them.
 * https://sqlite.org/malloc.html#lookaside
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Texts of one row: more than the lookaside has places. */
const TEXTS = 150;
const OCCUPYING = `SELECT ${Array.from({ length: TEXTS }, () => '?1 || ?1').join()}`;
/** Longer than what stands in a value itself. */
const TEXT = 'a text of some length';

/** So many values may stay bound: a good half of the places for short texts. */
const BOUND = 60;

/** Prepares statements that are kept as long as the connection is. Throws what node:sqlite throws. */
export function preparesLasting(database: DatabaseSync): (sql: string) => StatementSync {
  const beside = (occupying: StatementSync, sql: string): StatementSync => {
    const rows = occupying.iterate(TEXT);
    rows.next();
    try {
      return database.prepare(sql);
    } finally {
      rows.return?.();
    }
  };
  // The first has places in the lookaside itself, until it is collected.
  const occupying = beside(database.prepare(OCCUPYING), OCCUPYING);
  return sql => beside(occupying, sql);
}

/**
 * To be told of each such statement before it is run, and of how many values: lets go of those of others, once they are
 * many.
 */
export function releasesOthers(): (statement: StatementSync, values: number) => void {
  const bound = new Set<StatementSync>();
  let sum = 0;
  let last: StatementSync | undefined;
  return (statement, values) => {
    if (statement === last) return;
    last = statement;
    if (sum + values > BOUND) {
      for (const one of bound) unbind(one);
      bound.clear();
      sum = 0;
    }
    bound.add(statement);
    sum += values;
  };
}

/** For a statement whose rows have been fetched: asking it anew begins with letting go of what it was asked. */
function unbind(statement: StatementSync): void {
  statement.iterate();
}
