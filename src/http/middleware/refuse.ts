/**
 * Refuses a request before it reaches a route, in the error format of the interface that it addresses.
 */

import type { RequestErrorKind } from '../../errors/request-errors.ts';
import { issueOf } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';
import { RestError, type RestErrorCode, respondWithError } from '../rest/errors.ts';
import { respondWithOutcome } from './answer.ts';

/** Kinds of errors, and their codes in the REST interface. */
const CODES = {
  'too-long': 'too-large',
  'wrong-host': 'misdirected',
  'unknown-address': 'not-found',
} as const satisfies Readonly<Partial<Record<RequestErrorKind, RestErrorCode>>>;

export async function refuse(
  c: HttpContext,
  status: number,
  kind: keyof typeof CODES,
  message: string,
): Promise<Response> {
  if (c.get('rest') === true) return respondWithError(c, new RestError(CODES[kind], message), status);
  return respondWithOutcome(c, status, [issueOf(kind, message)]);
}
