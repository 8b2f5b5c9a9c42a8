/**
 * Errors of the REST interface. In: whatever was thrown. Out: `{error, message, requestId}` that never holds a stack, an
 * SQL text or a patient's value. ../shared/spec/interfaces.md section 7
 */
import { RangeProblem } from '../ccda/range.ts';
import { FhirError } from '../outcome.ts';
import { DatabaseError } from '../sql/database.ts';
import { type AppParts, type HttpContext, leftHalfway } from './context.ts';
import { describeReason, tellFailure } from './failure.ts';

const STATUS = {
  'bad-request': 400,
  unauthorized: 401,
  'not-found': 404,
  'not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  'too-large': 413,
  misdirected: 421,
  'too-many-requests': 429,
  'internal-error': 500,
  unavailable: 503,
} as const;

export type RestErrorCode = keyof typeof STATUS;

export class RestError extends Error {
  override readonly name = 'RestError';
  readonly code: RestErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RestErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

const CANCELLED = 'The request was cancelled';

/** Seconds until a client may try again where the database did not say. */
const RETRY_AFTER = 5;

export function onRestError({ log }: Pick<AppParts, 'log'>) {
  return (error: Error, c: HttpContext): Response => {
    const told = c.get('timedOut')?.()
      ? unavailable('The request took longer than this server allows')
      : leftHalfway(c)
        ? unavailable(CANCELLED)
        : asRestError(error);
    if (told !== undefined) {
      if (told !== error && told.code === 'unavailable')
        log.warn(told.message, { request: c.get('requestId'), ...describeReason(error) });
      return respondWithError(c, told);
    }
    return respondWithError(c, new RestError('internal-error', tellFailure(error, c.get('requestId'), log)));
  };
}

export function respondWithError(
  c: HttpContext,
  { code, message, headers }: RestError,
  status: number = STATUS[code],
): Response {
  const body = { error: code, message, requestId: c.get('requestId') };
  return c.json(body, status as 400, { ...headers, 'Cache-Control': 'no-store' });
}

function asRestError(error: Error): RestError | undefined {
  if (error instanceof RestError) return error;
  if (error instanceof RangeProblem) return new RestError('bad-request', error.message);
  if (error instanceof DatabaseError) {
    if (error.reason === 'failed') return undefined;
    if (error.reason === 'cancelled') return unavailable(CANCELLED);
    return unavailable('The database does not answer; try again later', error.retryAfter);
  }
  if (!(error instanceof FhirError)) return undefined;
  // Thrown by what all requests go through; a search of ours that is refused is a fault of ours.
  switch (error.status) {
    case 503:
      return unavailable(error.message, error.retryAfter);
    case 413:
    case 414:
      return new RestError('too-large', error.message);
    case 406:
      return new RestError('not-acceptable', error.message);
    case 400:
      return error.code === 'invalid' ? new RestError('bad-request', error.message) : undefined;
    default:
      return undefined;
  }
}

function unavailable(message: string, retryAfter: number = RETRY_AFTER): RestError {
  return new RestError('unavailable', message, { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) });
}
