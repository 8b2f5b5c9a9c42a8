/**
 * Lists SQL Server's error numbers by meaning: the server is away, the statement may be retried, the statement is
 * wrong. An unlisted number is shown by /ready.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */

/** What has to be done about an error. */
export type Decision =
  /** The victim of a deadlock, or a table that was altered meanwhile: the same statement may well succeed now. */
  | 'again'
  /** The session has ended, by KILL or by a change of the schema that had precedence: again, in another one. */
  | 'ended'
  /** The database no longer allows SNAPSHOT, which the session was told to read in: again, in another one. */
  | 'isolation'
  /**
   * The row versions that a statement reads are gone, for lack of space in tempdb: again, then the server is out of
   * resources.
   */
  | 'versions'
  /** A lock was waited for in vain. */
  | 'locked'
  /** Out of memory, space, locks or workers: this statement later, and others perhaps. */
  | 'busy'
  /** The server says who may log in and who may not. More tries would lock the account. */
  | 'refused'
  /** The database is not there under this name, or cannot be opened now. */
  | 'database'
  /** The server or the database is not open, is being recovered, or moves. */
  | 'away'
  /** No such table or column. */
  | 'not there'
  /** The login may not read it. */
  | 'not readable'
  /** The login may not see plans; only `lintel explain` asks for them. */
  | 'no plan'
  /**
   * The compiler says it of the statement before a row is read: syntax, names, functions and their arguments, types and
   * collations that do not go together. A fault of ours or of the mapping. Its words hold names and types.
   */
  | 'statement'
  /** A value that cannot be what the statement takes it for, in a row. The words may hold it. */
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

/** The decision on an error number; undefined where it is not listed. */
export function decisionOf(number: number): Decision | undefined {
  return DECISIONS.get(number);
}

/** Errors whose words are about the statement alone, and hold no value of a row. */
export function isOfStatement(number: number): boolean {
  const decision = DECISIONS.get(number);
  return decision === 'statement' || decision === 'not there';
}
