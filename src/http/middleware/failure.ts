/**
 * Describes errors that are not the caller's fault. In: the error. Out: fields for the log, such as the engine's error
 * code and the mapping; and a text for the client. Neither contains the engine's own message.
 */
import type { RequestErrorKind } from '../../errors/request-errors.ts';
import { describeError, type Log, type LogFields } from '../../log.ts';
import { DatabaseError } from '../../sql/database.ts';

/** Of the database's errors what the engine calls them and which mapping was asked, of others their name. */
export function describeReason(error: unknown): LogFields {
  if (error instanceof DatabaseError) return { ...error.describe() };
  return { reason: error instanceof Error ? error.name : typeof error };
}

/** The same, and where it was thrown. */
export function describeFailure(error: unknown): LogFields {
  return { ...(error instanceof DatabaseError ? error.describe() : {}), ...describeError(error) };
}

/** Logs an error that becomes a 500, and returns its kind and what the client is told. */
export function tellFailure(error: Error, request: string, log: Log): readonly [RequestErrorKind, told: string] {
  const [kind, message, told] = wordsFor(error);
  log.error(message, { request, ...describeFailure(error) });
  return [kind, told];
}

function wordsFor(error: Error): readonly [kind: RequestErrorKind, message: string, told: string] {
  if (!(error instanceof DatabaseError)) return ['unexpected-error', 'unexpected error', 'Unexpected error'];
  if (!error.missing) return ['database-failed', 'the database failed', 'The database could not work out the answer'];
  return [
    'database-lacks',
    'the database lacks a table or a column',
    'The database lacks a table or a column that this needs, or does not let it be read',
  ];
}
