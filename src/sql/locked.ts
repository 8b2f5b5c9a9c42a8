/**
 * Remembers locked tables. In: statements that timed out on a lock, and those that were answered, each with its tables.
 * Out: whether to send a statement. While a table is locked, one statement per interval tries it and all others fail at
 * once, so that they hold no connections.
 * No engine says which of several tables is locked: the set of tables is remembered, and statements that read all of
 * them fail.
 */
import { DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface LockedTables {
  /**
   * Returns true if this statement is the one that tries the locked tables now. Throws DatabaseError (`unavailable`) if
   * they were locked a moment ago and it is not time for another try.
   */
  check(tables: readonly string[]): boolean;
  /** Reports that a statement waited too long for a lock. */
  locked(tables: readonly string[]): void;
  answered(tables: readonly string[]): void;
}

export interface LockedOptions {
  /** Milliseconds between two tries. */
  readonly pause: number;
  readonly clock?: () => number;
}

interface Mark {
  readonly tables: readonly string[];
  /** When the next statement may try. */
  next: number;
}

/** Limit of remembered sets of tables. If a whole schema is locked there are more, and the latest are kept. */
const MOST = 64;
/** Number of pauses after which a mark without a new try is dropped. */
const FORGOTTEN = 20;

export const LOCKED = 'A table that this needs is locked by another program';

export function createLockedTables({ pause, clock = () => performance.now() }: LockedOptions): LockedTables {
  const marks = new Map<string, Mark>();
  const isWithin = (mark: Mark, tables: readonly string[]): boolean => mark.tables.every(one => tables.includes(one));

  return {
    check(tables) {
      if (marks.size === 0) return false;
      const now = clock();
      const due: Mark[] = [];
      for (const [key, mark] of marks) {
        if (!isWithin(mark, tables)) continue;
        if (now > mark.next + FORGOTTEN * pause) marks.delete(key);
        else if (now < mark.next) throw lockedError(mark.tables);
        else due.push(mark);
      }
      // Set only after no mark has refused the statement: a statement that is not sent tries nothing.
      for (const mark of due) mark.next = now + pause;
      return due.length > 0;
    },
    locked(tables) {
      if (tables.length === 0) return;
      const key = tables.join('\n');
      marks.delete(key);
      marks.set(key, { tables, next: clock() + pause });
      const [oldest] = marks.keys();
      if (marks.size > MOST && oldest !== undefined) marks.delete(oldest);
    },
    answered(tables) {
      for (const [key, mark] of marks) if (isWithin(mark, tables)) marks.delete(key);
    },
  };
}

/**
 * Returns the error of locked tables: their names are for the log, `publicText` is for the client. `error`: the
 * server's own, if the statement was sent.
 */
export function lockedError(tables: readonly string[], error?: DatabaseError): DatabaseError {
  const which = tables.length === 0 ? 'a table' : tables.join(', ');
  const engine = error === undefined ? {} : { engine: error.engine };
  const retryAfter = retryIn(1);
  return new DatabaseError('unavailable', `${which} is locked for too long`, {
    retryAfter,
    publicText: LOCKED,
    ...engine,
  });
}
