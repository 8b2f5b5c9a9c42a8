/**
 * Turns errors into answers of the REST interface. In: any thrown value. Out: `{error, message, requestId}`, or a page
 * in a browser, without stack, SQL text or a patient's value. docs/interfaces.md
 */
import { html } from 'hono/html';
import { AccountsError } from '../../auth/accounts.ts';
import { RangeProblem } from '../../ccda/range.ts';
import { FhirError } from '../../outcome.ts';
import { DatabaseError } from '../../sql/database.ts';
import { type AppParts, type HttpContext, leftHalfway, serverBase } from '../context.ts';
import { describeReason, logFailure } from '../middleware/errors.ts';
import { wantsPage } from '../middleware/negotiate.ts';
import { chartAddress } from '../pages/chart-address.ts';
import { loginPage, nextAddress } from '../pages/login-page.ts';
import { type Html, PAGE_POLICY, page } from '../pages/page-frame.ts';

const STATUS = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
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

/** Seconds until a client may retry, if the database gave no time. */
const RETRY_AFTER = 5;

export function onRestError(parts: AppParts) {
  const { log } = parts;
  const respond = (c: HttpContext, publicError: RestError): Response | Promise<Response> =>
    wantsPage(c.req.header('accept')) ? respondWithErrorPage(c, parts, publicError) : respondWithError(c, publicError);
  return (error: Error, c: HttpContext): Response | Promise<Response> => {
    const publicError = c.get('timedOut')?.()
      ? unavailableError('The request took longer than this server allows')
      : leftHalfway(c)
        ? unavailableError(CANCELLED)
        : asRestError(error);
    if (publicError !== undefined) {
      if (publicError !== error && publicError.code === 'unavailable')
        log.warn(publicError.message, { request: c.get('requestId'), ...describeReason(error) });
      return respond(c, publicError);
    }
    return respond(c, new RestError('internal-error', logFailure(error, c.get('requestId'), log)[1]));
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

/** Sends a page for people: the error, or the login form if a login is needed. */
function respondWithErrorPage(c: HttpContext, parts: AppParts, publicError: RestError): Response | Promise<Response> {
  const { code, message, headers } = publicError;
  const triedToLogIn = c.get('next') !== undefined;
  const mustLogIn = code === 'unauthorized' || (triedToLogIn && code === 'too-many-requests');
  const next = nextAddress(c, parts, c.get('next') ?? ownAddress(c, parts));
  const content = mustLogIn
    ? loginPage(c, parts, next, triedToLogIn ? message : undefined)
    : errorPage(c, parts, message);
  c.header('Content-Security-Policy', PAGE_POLICY);
  return c.html(content, STATUS[code], { ...headers, 'Cache-Control': 'no-store' });
}

/** Returns the address of the page that was asked for, as clients see it. */
function ownAddress(c: HttpContext, parts: AppParts): string | undefined {
  if (c.req.method !== 'GET') return undefined;
  const { pathname, search } = new URL(c.req.url);
  return `${serverBase(c, parts)}${pathname}${search}`;
}

function errorPage(c: HttpContext, parts: AppParts, message: string): Html {
  const home = { text: 'Lintel', href: `${serverBase(c, parts)}/` };
  return page(
    'Not answered',
    [home, { text: 'Charts', href: chartAddress(c, parts) }, { text: 'Not answered' }],
    html`<header><h1>This cannot be answered</h1></header>
<section><p role="alert">${message}</p><p class="quiet">Request ${c.get('requestId')}</p></section>`,
  );
}

function asRestError(error: Error): RestError | undefined {
  if (error instanceof RestError) return error;
  if (error instanceof AccountsError) return unavailableError('Nobody can log in: the file of accounts cannot be read');
  if (error instanceof RangeProblem) return new RestError('bad-request', error.message);
  if (error instanceof DatabaseError) {
    if (error.reason === 'failed') return undefined;
    if (error.reason === 'cancelled') return unavailableError(CANCELLED);
    return unavailableError(`${error.publicText ?? 'The database does not answer'}; try again later`, error.retryAfter);
  }
  if (!(error instanceof FhirError)) return undefined;
  if (error.kind === 'too-large') return new RestError('too-large', error.message);
  // Errors of the middleware that all requests pass. Any other is a fault of this server, which wrote the search.
  switch (error.status) {
    case 503:
      return unavailableError(error.message, error.retryAfter);
    case 413:
    case 414:
      return new RestError('too-large', error.message);
    case 403:
      return new RestError('forbidden', error.message);
    case 406:
      return new RestError('not-acceptable', error.message);
    case 400:
      return error.code === 'invalid' ? new RestError('bad-request', error.message) : undefined;
    default:
      return undefined;
  }
}

function unavailableError(message: string, retryAfter: number = RETRY_AFTER): RestError {
  return new RestError('unavailable', message, { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) });
}
