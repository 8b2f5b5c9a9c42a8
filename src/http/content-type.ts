/**
 * What a request's body is, by its Content-Type, and its text. RFC 9110 section 8.3
 */
import { FhirError } from '../outcome.ts';
import type { HttpContext } from './context.ts';

/** 415: a body in a form that this request does not take. */
export class WrongMediaType extends Error {
  override readonly name = 'WrongMediaType';

  constructor(expected: string) {
    super(`Content-Type: expected ${expected}`);
  }
}

/** The media type in lower case, and the charset, which is UTF-8 where none is named. */
export function contentTypeOf(c: HttpContext): { readonly mediaType: string; readonly charset: string } {
  const [mediaType = '', ...parameters] = (c.req.header('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map(one => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(one)?.[1]).find(Boolean);
  return { mediaType: mediaType.trim(), charset: charset === 'utf8' ? 'utf-8' : (charset ?? 'utf-8') };
}

/** Throws FhirError `invalid` for bytes that are no UTF-8. */
export function utf8(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FhirError('invalid', 'The body is not UTF-8');
  }
}
