/**
 * Translates SQLite's errors, and repeats statements that find the file locked by a writer. In: what node:sqlite
 * throws. Out: DatabaseError with SQLite's code and without its message.
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
 * The file is to blame, not the statement: PERM, BUSY, LOCKED, READONLY (a journal that only a writer can roll back),
 * IOERR, CORRUPT, CANTOPEN, PROTOCOL, NOTADB.
 */
const AWAY = new Set([3, BUSY, LOCKED, 8, 10, 11, 14, 15, 26]);

/** IOERR (a page beyond the end), CORRUPT, NOTADB. */
const OTHER = new Set([10, 11, 26]);

/** By their numbers, without `SQLITE_`. */
const NAMES = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL ' +
  'EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');

/** All that tells it from a slip in a statement: both are ERROR. */
const NOT_THERE = /\bno such (?:table|column)\b/;

/** Runs an action; throws what `told` makes of its error. */
export function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw told(what, cause);
  }
}

/**
 * SQLite's messages name tables and syntax, never a bound value; still only the code goes into ours, and whether
 * something is not there. `isPrepared`: whether rows were being read; what SQLite says before that is of the statement
 * alone, and kept as `words`.
 */
export function told(what: string, cause: unknown, isPrepared = true): DatabaseError {
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
    told: isLocked(code) ? LOCKED_OUT : undefined,
  });
}

/** Somebody writes: it is soon over as a rule. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && isLocked(codeOf(error.cause));
}

function isLocked(code: number): boolean {
  return (code & 0xff) === BUSY || (code & 0xff) === LOCKED;
}

const LOCKED_OUT = 'The database is locked by a program that writes to it';

/** What a connection says whose file was written over: pages that are none, or a schema that is gone. */
export function isOfOtherContents(error: unknown): boolean {
  return error instanceof DatabaseError && (error.missing || OTHER.has(codeOf(error.cause) & 0xff));
}

/** SQLITE_ERROR: what a statement or a view names is not there, or is wrong; the file itself is in order. */
export function isOfNames(error: unknown): boolean {
  return codeOf(error) === 1;
}

/** A whole number of a row is beyond those that arrive exactly. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof DatabaseError && error.engine.code === 'ERR_OUT_OF_RANGE';
}

/** 0 for what SQLite did not say. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** Of what SQLite did not say, the code that Node gave it. */
function engineCode(error: unknown, number: number): EngineCode {
  const name = NAMES[number & 0xff];
  if (number !== 0) return { ...(name === undefined ? {} : { code: `SQLITE_${name}` }), number };
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
}

/** At once, which is `now`, where nobody writes. `unhurried`: nobody waits for the answer, as in an export. */
export type BusyRetry = <T>(ask: (now: number) => T, now?: number, unhurried?: boolean) => Awaitable<T>;

/** Milliseconds that somebody who waits for an answer waits in all, and that others do. */
const AT_MOST = 1200;
const UNHURRIED = 5000;
/** Milliseconds of the first pause and of the longest; each is twice the one before. */
const FIRST = 10;
const LONGEST = 160;

/**
 * Asks until the writer is done or has had its time. The thread is free for others during the pauses. The time counts
 * from the first statement that found the file locked, so that later ones do not wait as long again.
 */
export function createBusyRetry(): BusyRetry {
  /** When the file was found locked, if it was at the last look. */
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
