/**
 * Makes a response of FHIR JSON text, in the representation that was asked for. Answers that several requests may
 * share are made by http/middleware/answer-cache.ts.
 */
import { FhirError, type Issue, operationOutcome } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';
import { answerOf, type Representation, sendAnswer } from '../middleware/answer.ts';
import { negotiate } from '../middleware/negotiate.ts';
import { headerOf, lastOf, parseParameters, queryOf } from '../middleware/request.ts';

type Parameters = ReturnType<typeof parseParameters>;

/** From `_format`, `_pretty` and Accept. Throws FhirError `not-acceptable` or `value`. */
export function representationOf(c: HttpContext, parameters: Parameters): Representation {
  const pretty = lastOf(parameters, '_pretty');
  if (pretty !== undefined && pretty !== 'true' && pretty !== 'false') {
    throw new FhirError('wrong-value', '_pretty: expected true or false', { parameter: '_pretty' });
  }
  const format = negotiate(lastOf(parameters, '_format'), headerOf(c, 'accept'));
  const place = format === 'html' ? c.get('place')?.() : undefined;
  return { format, pretty: pretty === 'true', ...(place && { place }) };
}

/** 200, or another status, with a resource. */
export async function respond(
  c: HttpContext,
  json: string,
  representation: Representation,
  status: 200 | 400 = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return sendAnswer(c, answerOf(json, representation, { headers }), { status });
}

/**
 * An OperationOutcome. It comes in the representation that was asked for, and in JSON where that cannot be found out:
 * an error must not fail for its form.
 */
export function respondWithOutcome(
  c: HttpContext,
  status: number,
  issues: readonly Issue[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return respond(c, JSON.stringify(operationOutcome(issues)), outcomeRepresentation(c), status as 400, headers);
}

function outcomeRepresentation(c: HttpContext): Representation {
  try {
    return representationOf(c, parseParameters(queryOf(c.req.url), 'query string'));
  } catch (error) {
    if (error instanceof FhirError) return { format: 'json', pretty: false };
    throw error;
  }
}
