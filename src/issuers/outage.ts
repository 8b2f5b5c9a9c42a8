/**
 * The error for an issuer that does not answer: its tokens can be neither accepted nor refused.
 */
import { FhirError } from '../outcome.ts';

/** Seconds for Retry-After. */
const RETRY = 5;

/** 503: an address of an issuer cannot be asked now. Holds nothing of a token. */
export function outage(retryAfter = RETRY): FhirError {
  return new FhirError('issuer-away', 'Access tokens cannot be verified now: their issuer does not answer', {
    retryAfter,
  });
}
