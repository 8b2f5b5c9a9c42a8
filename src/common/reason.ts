/**
 * Names why a file cannot be used. In: an error of SQLite or the system. Out: a name without any value of a request.
 */

/** Returns the code of an error of Node or the system, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** True if the disk was full. */
export function lacksRoom(error: unknown): boolean {
  return NO_ROOM.has(codeOf(error) ?? '');
}

/** https://www.sqlite.org/rescode.html#full */
const SQLITE_FULL = 13;

/** `code`: `SQLITE_` and SQLite's primary result code, or the system's error code such as EACCES. */
export interface Reason {
  readonly full: boolean;
  readonly code: string;
}

export function reasonOf(error: unknown): Reason {
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown };
  const number = typeof errcode === 'number' ? errcode & 0xff : undefined;
  const text = number === undefined ? (typeof code === 'string' ? code : 'unknown') : `SQLITE_${number}`;
  return { full: number === SQLITE_FULL || code === 'ENOSPC', code: text };
}
