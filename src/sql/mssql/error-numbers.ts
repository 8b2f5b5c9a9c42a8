/**
 * Groups SQL Server's error numbers by meaning: the server is unreachable, the statement may be retried, the statement
 * is wrong. /ready shows numbers that are not listed.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */

/** How to react to an error. */
export type Decision =
  /** The statement lost a deadlock, or a table was altered meanwhile: the same statement may succeed now. */
  | 'again'
  /** The session has ended, by KILL or by a change of the schema that had precedence: retry in another one. */
  | 'ended'
  /** The database no longer allows SNAPSHOT, which the session was set to: retry in another one. */
  | 'isolation'
  /**
   * The row versions of a statement are gone, because tempdb lacks space: retry once; then the server is out of
   * resources.
   */
  | 'versions'
  /** The statement waited too long for a lock. */
  | 'locked'
  /** Out of memory, space, locks or workers: this statement fails, others may succeed. */
  | 'busy'
  /** The server refuses the login. More attempts would lock the account. */
  | 'refused'
  /** No database has this name, or it cannot be opened now. */
  | 'database'
  /** The server or the database is not open, is being recovered, or moves. */
  | 'away'
  /** The table or column does not exist. */
  | 'not there'
  /** The login may not read the table or column. */
  | 'not readable'
  /** The login may not see plans; only `lintel explain` requests them. */
  | 'no plan'
  /**
   * The compiler rejects the statement before a row is read: syntax, names, functions and their arguments, incompatible
   * types or collations. The bug is in Lintel or in the mapping. The message contains names and types.
   */
  | 'statement'
  /** A row has a value of another kind than the statement expects. The message may contain the value. */
  | 'value';

const NUMBERS: Readonly<Record<Decision, readonly number[]>> = {
  again: [1205, 3961],
  ended: [596, 1219],
  isolation: [3952],
  versions: [3958, 3966, 3967],
  locked: [1222],
  busy: [701, 802, 1101, 1105, 1204, 8628, 8645, 8651, 10928, 10929],
  refused: [916, 18452, 18456, 18470, 18486, 18487, 18488],
  database: [911, 4060, 4064],
  away: [
    ...[233, 922, 923, 924, 927, 942, 945, 952, 976, 978, 983, 988, 6005, 6006, 17142, 18401, 18451],
    ...[40197, 40501, 40532, 40613, 40615, 49918, 49919, 49920],
  ],
  'not there': [207, 208, 4413],
  'not readable': [229, 230],
  'no plan': [262],
  statement: [
    ...[102, 105, 156, 170, 174, 189, 195, 206, 209, 243, 402, 403, 447, 448, 449, 451, 468, 1035, 4104, 4121],
    ...[8116, 8117],
  ],
  value: [220, 232, 241, 242, 244, 245, 248, 517, 535, 537, 1007, 8114, 8115, 8134, 8169, 9402, 9420, 13609],
};

const DECISIONS: ReadonlyMap<number, Decision> = new Map(
  Object.entries(NUMBERS).flatMap(([decision, numbers]) =>
    numbers.map((number): [number, Decision] => [number, decision as Decision]),
  ),
);

/** Returns the decision for an error number; undefined if it is not listed. */
export function decisionOf(number: number): Decision | undefined {
  return DECISIONS.get(number);
}

/** True if the error's message is about the statement alone, and contains no value of a row. */
export function isOfStatement(number: number): boolean {
  const decision = DECISIONS.get(number);
  return decision === 'statement' || decision === 'not there';
}
