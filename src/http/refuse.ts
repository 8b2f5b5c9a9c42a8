/**
 * What is refused before any route: told in the form of the interface that was addressed.
 */
import type { HttpContext } from './context.ts';
import { respondWithOutcome } from './respond.ts';
import { RestError, type RestErrorCode, respondWithError } from './rest-errors.ts';

/** FHIR's issue types, and what the REST interface calls the same. */
const CODES = {
  'too-long': 'too-large',
  forbidden: 'misdirected',
  'not-found': 'not-found',
} as const satisfies Readonly<Record<string, RestErrorCode>>;

export async function refuse(
  c: HttpContext,
  status: number,
  code: keyof typeof CODES,
  message: string,
): Promise<Response> {
  if (c.get('rest') === true) return respondWithError(c, new RestError(CODES[code], message), status);
  return respondWithOutcome(c, status, [{ severity: 'error', code, diagnostics: message }]);
}
