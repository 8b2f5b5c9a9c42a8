/**
 * Reads a request's body as text, by its Content-Type.
 * RFC 9110 section 8.3
 */
import { FhirError } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';

/** 415: a body in a form that this request does not take. */
export class WrongMediaType extends Error {
  override readonly name = 'WrongMediaType';

  constructor(expected: string, header: 'Content-Type' | 'Content-Encoding' = 'Content-Type') {
    super(`${header}: expected ${expected}`);
  }
}

/**
 * The media type in lower case, and the charset, which is UTF-8 where none is named. Throws WrongMediaType for a body
 * that is compressed.
 */
export function contentTypeOf(c: HttpContext): { readonly mediaType: string; readonly charset: string } {
  const coding = c.req.header('content-encoding')?.trim() ?? '';
  if (coding !== '' && coding.toLowerCase() !== 'identity') throw new WrongMediaType('none', 'Content-Encoding');
  const [mediaType = '', ...parameters] = (c.req.header('content-type') ?? '').toLowerCase().split(';');
  const charset = parameterOf(parameters, 'charset') || 'utf-8';
  return { mediaType: mediaType.trim(), charset: charset === 'utf8' ? 'utf-8' : charset };
}

/**
 * The value of a parameter of a media type, without quotes. By places and not by an expression: one that skips blanks
 * takes the square of their number, and there may be very many.
 */
export function parameterOf(parameters: readonly string[], name: string): string | undefined {
  for (const one of parameters) {
    const equals = one.indexOf('=');
    if (equals < 0 || one.slice(0, equals).trim() !== name) continue;
    const value = one.slice(equals + 1).trim();
    return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  }
  return undefined;
}

/** Throws FhirError `invalid` for bytes that are no UTF-8. */
export function utf8(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FhirError('malformed-body', 'The body is not UTF-8');
  }
}
