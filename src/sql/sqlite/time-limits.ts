/**
 * Limits the time that statements of SQLite take. They run on the server's own thread, so a long one, or a document of
 * hundreds, would hold up every other client. Statements that search look at the clock while they read rows; one that
 * takes too long is ended; and many of them share the thread with other clients.
 */
import { performance } from 'node:perf_hooks';
import { INTEGER } from '../column-type.ts';
import { and } from '../construct.ts';
import { DatabaseError, TOO_LONG } from '../database.ts';
import type { Predicate, Relation } from '../expression.ts';
import { identifier } from '../identifier.ts';
import type { SqlPlan } from '../plan.ts';

/**
 * Of so many rows one is looked at: a call takes longer than many a comparison. A prime, for numbers may come in steps.
 */
const ROWS = 17;

/**
 * Adds a look at the clock to a plan that searches: a condition that is always true and calls our function, before the
 * other conditions. Without it SQLite may read any number of rows and call none of our functions. `hasRowids`: whether
 * the rows of a table are numbered; those of views are not.
 */
export function createLooks(hasRowids: (table: string) => boolean): (plan: SqlPlan) => SqlPlan {
  const made = new WeakMap<SqlPlan, SqlPlan>();

  const inRows = (of: Relation): Relation => ({
    ...of,
    where: and(lookAt(of, hasRowids(of.table.name)), inside(of.where)),
  });

  /** The same object where nothing changes: its SQL is kept by it. */
  const inside = (of: Predicate): Predicate => {
    if (of.kind === 'exists') return of.searches ? { ...of, from: inRows(of.from) } : of;
    if (of.kind === 'taken') return { ...of, of: of.of.map(one => ({ ...one, from: inRows(one.from) })) };
    if (of.kind !== 'and' && of.kind !== 'or') return of;
    const parts = of.of.map(inside);
    return parts.every((part, i) => part === of.of[i]) ? of : { ...of, of: parts };
  };

  return plan => {
    if (!plan.searches) return plan;
    // All rows of a table are counted without being read, or read until the limit. Those of a view are computed.
    const isPlain = plan.shape === 'count' || plan.shape === 'rows';
    if (isPlain && plan.from.where.kind === 'true' && hasRowids(plan.from.table.name)) return plan;
    const known = made.get(plan);
    if (known) return known;
    const looking = { ...plan, from: inRows(plan.from) };
    made.set(plan, looking);
    return looking;
  };
}

function lookAt({ alias }: Relation, rowids: boolean): Predicate {
  const rowid = { kind: 'column', alias, column: identifier('rowid'), type: INTEGER } as const;
  // Else the query planner would take it for a condition that few rows satisfy.
  const parts = rowids
    ? ['likelihood(', rowid, ` % ${ROWS} OR lintel_look(), 1.0)`]
    : ['likelihood(lintel_look(), 1.0)'];
  return { kind: 'raw', parts, not: false };
}

export interface Limit {
  /**
   * A statement begins. `until`: when it is ended, as performance.now() has it; undefined: somebody waits as long as it
   * takes.
   */
  begin(until: number | undefined): void;
  /** Throws DatabaseError `unavailable` once the statement has taken too long. */
  look(): void;
  /** Likewise for what is called thousands of times at once: it looks at some calls. */
  check(): void;
}

/** Calls between two looks at the clock, which take longer than a call. */
const CALLS = 1000;

/**
 * Ends statements that compute for too long: SQLite cannot be interrupted from its own thread, but calls our functions
 * (`createLooks`, comparisons of texts), which can throw.
 */
export function createLimit(): Limit {
  let ends = Number.POSITIVE_INFINITY;
  let calls = 0;
  const look = (): void => {
    if (performance.now() > ends)
      throw new DatabaseError('unavailable', 'the statement took too long and was ended', {
        retryAfter: 5,
        told: TOO_LONG,
      });
  };
  return {
    begin(until) {
      ends = until ?? Number.POSITIVE_INFINITY;
      calls = 0;
    },
    look,
    check() {
      if (++calls % CALLS === 0) look();
    },
  };
}

/** For connections that answer nobody who waits. */
export const NO_LIMIT: Pick<Limit, 'look' | 'check'> = { look() {}, check() {} };

/** Milliseconds of a round after which others have waited long. */
const LONG = 100;
/**
 * Rounds in which requests that waited are accepted (one a round), read and answered: `/health`, before the next long
 * statement. They take a millisecond where nobody waits.
 */
const ROUNDS = 100;

/**
 * A wait before a statement, which ends at once while the time of this round of the event loop is not used up. `slice`:
 * milliseconds of one round. Statements beyond them wait for the next round, in the order in which they came,
 * so that other clients' events come in between; after a long statement they wait for some rounds. The function
 * returned takes the present instant of performance.now().
 */
export function createTimeSlices(slice: number): (now?: number) => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let begun: number | undefined;
  /** Rounds that are others' alone. */
  let left = 0;
  const pass = (): void => {
    left -= 1;
    if (left > 0) setImmediate(pass);
  };
  const end = (): void => {
    if (begun !== undefined && performance.now() - begun > LONG) {
      left = ROUNDS;
      setImmediate(pass);
    }
    begun = undefined;
  };
  const isYoung = (now: number): boolean => {
    if (begun !== undefined) return now - begun < slice;
    if (left > 0) return false;
    begun = now;
    setImmediate(end);
    return true;
  };
  /** For each that waits once per round: what the one before it does is done by then, and counts. */
  const goOn = (): void => {
    if (isYoung(performance.now())) waiting.shift()?.();
    else setImmediate(goOn);
  };
  return (now = performance.now()) => {
    if (waiting.length === 0 && isYoung(now)) return undefined;
    setImmediate(goOn);
    return new Promise(resolve => waiting.push(resolve));
  };
}
