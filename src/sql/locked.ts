/**
 * Remembers locked tables. In: statements that waited for a lock in vain, and those that were answered, each with its
 * tables. Out: whether to send a statement. While a table is locked, one statement per interval tries it and all
 * others fail at once, so that they hold no connections.
 * No engine says which of several tables is locked: the set of tables is remembered, and statements that read all of
 * them fail.
 */
import { DatabaseError } from './database.ts';
import { retryIn } from './retry-after.ts';

export interface LockedTables {
  /**
   * Throws DatabaseError (`unavailable`) where the tables have just been locked and another statement is trying them.
   * Says whether this statement is the one that tries them now.
   */
  check(tables: readonly string[]): boolean;
  /** A statement waited for a lock for too long. */
  locked(tables: readonly string[]): void;
  answered(tables: readonly string[]): void;
}

export interface LockedOptions {
  /** Milliseconds between two statements that try. */
  readonly pause: number;
  readonly clock?: () => number;
}

interface Mark {
  readonly tables: readonly string[];
  /** When the next statement may try. */
  next: number;
}

/** Sets of tables that are remembered; a schema that is locked as a whole has more, of which the latest count. */
const MOST = 64;
/** So many pauses after the last try nothing is known any more. */
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
      // Only once none refuses the statement: what is not sent tries nothing.
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

/** Names of tables are for the log, the words for whoever asked. `error`: the server's own, if it was asked. */
export function lockedError(tables: readonly string[], error?: DatabaseError): DatabaseError {
  const which = tables.length === 0 ? 'a table' : tables.join(', ');
  const engine = error === undefined ? {} : { engine: error.engine };
  const retryAfter = retryIn(1);
  return new DatabaseError('unavailable', `${which} is locked for too long`, { retryAfter, told: LOCKED, ...engine });
}
