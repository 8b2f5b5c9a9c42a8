/**
 * Turns errors into responses. In: any thrown value. Out: an OperationOutcome that never contains a stack, SQL text or
 * a patient's value.
 */

import type { RequestErrorKind } from '../../errors/request-errors.ts';
import { describeError, type Log, type LogFields } from '../../log.ts';
import { FhirError, issueOf } from '../../outcome.ts';
import { DatabaseError, StatementTooLarge } from '../../sql/database.ts';
import { type AppParts, type HttpContext, leftHalfway } from '../context.ts';
import { respondWithOutcome } from './answer.ts';
import { WrongMediaType } from './request.ts';

/** Seconds until a client may retry, if the database gave no time. */
const RETRY_AFTER = 5;

export function onError({ log }: Pick<AppParts, 'log'>) {
  return (error: Error, c: HttpContext): Promise<Response> => {
    if (error instanceof WrongMediaType) {
      return respondWithOutcome(c, 415, [issueOf('body-type', error.message)]);
    }
    const publicError = c.get('timedOut')?.() ? timedOut() : leftHalfway(c) ? cancelled() : asFhirError(error);
    if (publicError !== undefined) {
      if (publicError !== error)
        log.warn(publicError.message, { request: c.get('requestId'), ...describeReason(error) });
      return respondWithOutcome(c, publicError.status, publicError.issues, {
        ...retryHeader(publicError),
        ...challenge(publicError, c),
      });
    }
    const request = c.get('requestId');
    const [kind, words] = logFailure(error, request, log);
    return respondWithOutcome(c, 500, [issueOf(kind, `${words}; request ${request}`)]);
  };
}

function asFhirError(error: Error): FhirError | undefined {
  if (error instanceof FhirError) return error;
  if (error instanceof StatementTooLarge) {
    return new FhirError('too-costly', 'This needs more comparisons than the database supports; give fewer values');
  }
  if (!(error instanceof DatabaseError) || error.reason === 'failed') return undefined;
  if (error.reason === 'cancelled') return cancelled();
  const retryAfter = error.retryAfter ?? RETRY_AFTER;
  return error.publicText === undefined
    ? new FhirError('database-away', 'The database does not answer; try again later', { retryAfter })
    : new FhirError('database-busy', `${error.publicText}; try again later`, { retryAfter });
}

function timedOut(): FhirError {
  return new FhirError('timed-out', 'The request took longer than this server allows', { retryAfter: RETRY_AFTER });
}

function cancelled(): FhirError {
  return new FhirError('cancelled', 'The request was cancelled');
}

/** RFC 6750 section 3 */
function challenge({ status }: FhirError, c: HttpContext): Record<string, string> {
  if (status !== 401) return {};
  const error = c.get('tokenRefused') === true ? ', error="invalid_token"' : '';
  return { 'WWW-Authenticate': `Bearer realm="fhir"${error}` };
}

function retryHeader(error: FhirError): Record<string, string> {
  return error.retryAfter === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfter))) };
}

/**
 * Describes an error that is not the caller's fault, for the log: engine's error code and mapping for an error of the
 * database, the name for any other. Leaves out the engine's own message.
 */
export function describeReason(error: unknown): LogFields {
  if (error instanceof DatabaseError) return { ...error.describe() };
  return { reason: error instanceof Error ? error.name : typeof error };
}

/** Returns the same, and where it was thrown. */
export function describeFailure(error: unknown): LogFields {
  return { ...(error instanceof DatabaseError ? error.describe() : {}), ...describeError(error) };
}

/** Logs an error that becomes a 500. Returns its kind and the text for the client. */
export function logFailure(error: Error, request: string, log: Log): readonly [RequestErrorKind, publicText: string] {
  const [kind, message, publicText] = wordsFor(error);
  log.error(message, { request, ...describeFailure(error) });
  return [kind, publicText];
}

function wordsFor(error: Error): readonly [kind: RequestErrorKind, message: string, publicText: string] {
  if (!(error instanceof DatabaseError)) return ['unexpected-error', 'unexpected error', 'Unexpected error'];
  if (!error.missing) return ['database-failed', 'the database failed', 'The database could not work out the answer'];
  return [
    'database-lacks',
    'the database lacks a table or a column',
    'The database lacks a table or a column that this needs, or denies access to it',
  ];
}
