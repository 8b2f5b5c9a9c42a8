/**
 * Limits the time of SQLite's statements. They run on the server's own thread, so a long one, or a document with
 * hundreds, would block all other clients. Statements that search check the clock while they read rows; one that takes
 * too long is ended; and many statements leave time for other clients in between.
 */

import { performance } from 'node:perf_hooks';
import { memoized } from '../../common/caches.ts';
import { INTEGER } from '../column-type.ts';
import { and } from '../construct.ts';
import { DatabaseError, TOO_LONG } from '../database.ts';
import type { Predicate, Relation } from '../expression.ts';
import { identifier } from '../identifier.ts';
import type { SqlPlan } from '../plan.ts';

/**
 * One row in so many checks the clock, because a call takes longer than many comparisons. A prime, because rowids may
 * come in steps.
 */
const ROWS = 17;

/**
 * Adds a check of the clock to a plan that searches: a condition that is always true and calls our function, before the
 * other conditions. Without it SQLite may read any number of rows without calling our functions. `hasRowids`: true if
 * the table's rows have rowids; those of views have none.
 */
export function createClockChecks(hasRowids: (table: string) => boolean): (plan: SqlPlan) => SqlPlan {
  const inRows = (of: Relation): Relation => ({
    ...of,
    where: and(clockCheckOf(of, hasRowids(of.table.name)), inside(of.where)),
  });

  /** Returns the same object if nothing changes, because its SQL is cached by it. */
  const inside = (of: Predicate): Predicate => {
    if (of.kind === 'exists') return of.searches ? { ...of, from: inRows(of.from) } : of;
    if (of.kind === 'in-selects') return { ...of, of: of.of.map(one => ({ ...one, from: inRows(one.from) })) };
    if (of.kind !== 'and' && of.kind !== 'or') return of;
    const parts = of.of.map(inside);
    return parts.every((part, i) => part === of.of[i]) ? of : { ...of, of: parts };
  };

  return memoized(plan => {
    if (!plan.searches) return plan;
    // SQLite counts all rows of a table without reading them, and reads plain rows only up to the limit. Rows of a view
    // are computed.
    const isPlain = plan.shape === 'count' || plan.shape === 'rows';
    if (isPlain && plan.from.where.kind === 'true' && hasRowids(plan.from.table.name)) return plan;
    return { ...plan, from: inRows(plan.from) };
  });
}

function clockCheckOf({ alias }: Relation, rowids: boolean): Predicate {
  const rowid = { kind: 'column', alias, column: identifier('rowid'), type: INTEGER } as const;
  // Without `likelihood` the query planner would assume that few rows satisfy the condition.
  const parts = rowids
    ? ['likelihood(', rowid, ` % ${ROWS} OR lintel_look(), 1.0)`]
    : ['likelihood(lintel_look(), 1.0)'];
  return { kind: 'raw', parts, not: false };
}

export interface Limit {
  /** Starts a statement. `until`: when it is ended, as an instant of performance.now(); undefined: no limit. */
  begin(until: number | undefined): void;
  /** Throws DatabaseError `unavailable` if the statement has taken too long. */
  look(): void;
  /** Likewise for functions with thousands of calls: checks only some of them. */
  check(): void;
}

/** Calls between two checks of the clock, which take longer than a call. */
const CALLS = 1000;

/**
 * Ends statements that compute for too long. SQLite cannot be interrupted from its own thread, but it calls our
 * functions (`createClockChecks`, comparisons of texts), which can throw.
 */
export function createLimit(): Limit {
  let ends = Number.POSITIVE_INFINITY;
  let calls = 0;
  const look = (): void => {
    if (performance.now() > ends)
      throw new DatabaseError('unavailable', 'the statement took too long and was ended', {
        retryAfter: 5,
        publicText: TOO_LONG,
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

/** For connections on which no client waits. */
export const NO_LIMIT: Pick<Limit, 'look' | 'check'> = { look() {}, check() {} };

/** Milliseconds of one round after which other clients have waited long. */
const LONG = 100;
/**
 * Rounds for requests that waited: they are accepted (one per round), read and answered, such as `/health`, before the
 * next long statement. All rounds together take a millisecond if no client waits.
 */
const ROUNDS = 100;
/** Milliseconds after which the rounds end early: they were long because others worked in them. */
const RESERVED = 100;

/**
 * Creates a function to call before each statement, with the present instant of performance.now(). It returns undefined
 * while time is left in this round of the event loop; else a promise for a later round, in the order of the calls, so
 * that other clients' events come in between. After a long statement it waits for some rounds. `slice`: milliseconds of
 * one round.
 */
export function createTimeSlices(slice: number): (now?: number) => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let begun: number | undefined;
  /** Rounds that remain reserved for other clients. */
  let left = 0;
  /** The instant at which they end. */
  let until = 0;
  const pass = (): void => {
    left = performance.now() > until ? 0 : left - 1;
    if (left > 0) setImmediate(pass);
  };
  const end = (): void => {
    const now = performance.now();
    if (begun !== undefined && now - begun > LONG) {
      left = ROUNDS;
      until = now + RESERVED;
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
  /** Called once per round for each waiting statement. The previous one has run by then, so its time counts. */
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
