/**
 * Translates SQLite's errors, and retries statements while a writer has locked the file. In: what node:sqlite throws.
 * Out: DatabaseError with SQLite's code and without its message.
 * https://sqlite.org/rescode.html
 */

import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../common/awaitable.ts';
import { DatabaseError, type EngineCode } from '../database.ts';
import { retryIn } from '../retry-after.ts';

const BUSY = 5;
const LOCKED = 6;

/**
 * Errors of the file, not of the statement: PERM, BUSY, LOCKED, READONLY (a journal that only a writer can roll back),
 * IOERR, CORRUPT, CANTOPEN, PROTOCOL, NOTADB.
 */
const AWAY = new Set([3, BUSY, LOCKED, 8, 10, 11, 14, 15, 26]);

/** Codes after the file was overwritten: IOERR (a page beyond the end), CORRUPT, NOTADB. */
const OTHER = new Set([10, 11, 26]);

/** Names of result codes, in order, without `SQLITE_`. */
const NAMES = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL ' +
  'EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');

/** Distinguishes a missing table or column from a mistake in a statement: both have the code ERROR. */
const NOT_THERE = /\bno such (?:table|column)\b/;

/** Runs an action; throws its error as a DatabaseError. */
export function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw databaseErrorOf(what, cause);
  }
}

/**
 * Returns the DatabaseError for an error of SQLite. SQLite's messages name tables and syntax, never a bound value;
 * still our message has only the code and whether something is missing. `isPrepared`: true if rows were already being
 * read. A message from before that is about the statement alone, and is kept as `words`.
 */
export function databaseErrorOf(what: string, cause: unknown, isPrepared = true): DatabaseError {
  if (cause instanceof DatabaseError) return cause;
  const code = codeOf(cause);
  const away =
    AWAY.has(code & 0xff) || (cause instanceof Error && 'code' in cause && cause.code === 'ERR_INVALID_STATE');
  const missing = cause instanceof Error && NOT_THERE.test(cause.message);
  const why = missing ? ': a table or column is not there' : '';
  return new DatabaseError(away ? 'unavailable' : 'failed', `SQLite could not ${what}${why} (code ${code})`, {
    cause,
    engine: engineCode(cause, code),
    missing,
    words: !isPrepared && !away && cause instanceof Error ? cause.message : undefined,
    ...(away ? { retryAfter: retryIn(isLocked(code) ? 1 : 5) } : {}),
    publicText: isLocked(code) ? LOCKED_OUT : undefined,
  });
}

/** True if a writer has locked the file, which is usually over soon. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && isLocked(codeOf(error.cause));
}

function isLocked(code: number): boolean {
  return (code & 0xff) === BUSY || (code & 0xff) === LOCKED;
}

const LOCKED_OUT = 'The database is locked by a program that writes to it';

/** True for errors of a connection whose file was overwritten: invalid pages, or a missing schema. */
export function isOfOtherContents(error: unknown): boolean {
  return error instanceof DatabaseError && (error.missing || OTHER.has(codeOf(error.cause) & 0xff));
}

/** True for SQLITE_ERROR: a name in a statement or view is missing or wrong, and the file itself is intact. */
export function isOfNames(error: unknown): boolean {
  return codeOf(error) === 1;
}

/** True if a whole number in a row is too large to arrive exactly. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof DatabaseError && error.engine.code === 'ERR_OUT_OF_RANGE';
}

/** Returns SQLite's result code; 0 if the error is not SQLite's. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** Returns the code and name of an error; Node's code if the error is not SQLite's. */
function engineCode(error: unknown, number: number): EngineCode {
  const name = NAMES[number & 0xff];
  if (number !== 0) return { ...(name === undefined ? {} : { code: `SQLITE_${name}` }), number };
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
}

/**
 * Runs `ask`: synchronously at `now` if nobody writes. `unhurried`: no client waits for the answer, as in an export.
 */
export type BusyRetry = <T>(ask: (now: number) => T, now?: number, unhurried?: boolean) => Awaitable<T>;

/** Milliseconds of retries in total: if a client waits, and if none does. */
const AT_MOST = 1200;
const UNHURRIED = 5000;
/** Milliseconds of the first pause and of the longest; each is twice the one before. */
const FIRST = 10;
const LONGEST = 160;

/**
 * Creates a function that retries until the writer has finished or the time is over. The thread is free during the
 * pauses. The time counts from the first statement that found the file locked, so that later ones do not wait as long.
 */
export function createBusyRetry(): BusyRetry {
  /** When the file was first found locked; undefined if the last statement did not find it locked. */
  let since: number | undefined;

  const once = <T>(ask: (now: number) => T, now: number): T => {
    try {
      const answer = ask(now);
      since = undefined;
      return answer;
    } catch (error) {
      if (isBusy(error)) since ??= now;
      else since = undefined;
      throw error;
    }
  };

  const again = async <T>(ask: (now: number) => T, begun: number, unhurried: boolean): Promise<T> => {
    const end = unhurried ? begun + UNHURRIED : (since ?? begun) + AT_MOST;
    for (let wait = FIRST; ; wait = Math.min(2 * wait, LONGEST)) {
      await pause(wait);
      try {
        return once(ask, performance.now());
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
      }
    }
  };

  return (ask, now = performance.now(), unhurried = false) => {
    try {
      return once(ask, now);
    } catch (error) {
      return isBusy(error) ? again(ask, now, unhurried) : Promise.reject(error);
    }
  };
}
