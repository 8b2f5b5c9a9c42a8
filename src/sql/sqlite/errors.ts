/**
 * What SQLite's errors mean. In: what node:sqlite throws. Out: DatabaseError, with the code of SQLite and none of its words.
 * https://sqlite.org/rescode.html
 */
import { DatabaseError } from '../database.ts';

const BUSY = 5;
const LOCKED = 6;

/**
 * The file is to blame, not the statement: PERM, BUSY, LOCKED, READONLY (a journal that only a writer can roll back), IOERR,
 * CORRUPT, CANTOPEN, PROTOCOL, NOTADB.
 */
const AWAY = new Set([3, BUSY, LOCKED, 8, 10, 11, 14, 15, 26]);

/** SQLite's messages name tables and syntax, never a bound value; still only the code goes into ours. */
export function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    const code = codeOf(cause);
    const away =
      AWAY.has(code & 0xff) || (cause instanceof Error && 'code' in cause && cause.code === 'ERR_INVALID_STATE');
    throw new DatabaseError(away ? 'unavailable' : 'failed', `SQLite could not ${what} (code ${code})`, {
      cause,
      ...(away ? { retryAfter: 5 } : {}),
    });
  }
}

/** Somebody writes: it is soon over as a rule. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  const code = codeOf(error.cause) & 0xff;
  return code === BUSY || code === LOCKED;
}

/** 0 for what SQLite did not say. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}
