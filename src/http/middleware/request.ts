/**
 * Reads headers, parameters and body of a request. In: the request. Out: the text of a header; names and values of the
 * query string and of a form in order, with repeats. RFC 9110 section 8.3, https://hl7.org/fhir/R4/http.html#search,
 * https://url.spec.whatwg.org/#urlencoded-parsing
 */
import { getPathNoStrict } from 'hono/utils/url';
import type { Parameters } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';

/**
 * Returns a header, from Node's own request if there is one: the framework would first copy all headers into an object,
 * which takes longer than all other work on them. Joins values of a repeated header with commas. `name`: in lower case.
 */
export function headerOf(c: HttpContext, name: string): string | undefined {
  const incoming = c.env?.incoming;
  if (incoming === undefined) return c.req.header(name);
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Returns the path for routing. Ignores a slash at its end, because clients write the base with and without one;
 * decodes `%24`, the `$` of an operation, which many of them encode.
 */
export function pathOf(request: Request): string {
  return getPathNoStrict(request).replaceAll('%24', '$');
}

/** Decodes a segment of a path; returns it unchanged if it is not percent-encoded UTF-8. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Characters that have to be decoded or refused: a URL holds no null character, but a body may. */
const ENCODED = /[%+\0]/;

/**
 * Reads names and values. Refuses text that is not percent-encoded UTF-8: URLSearchParams would repair it silently, and
 * the search would mean something else. Throws FhirError `malformed-request`. `place` names the text in messages:
 * `query string`, `body`.
 */
export function parseParameters(text: string, place: string): Parameters {
  return text
    .split('&')
    .filter(pair => pair !== '')
    .map(pair => {
      const equals = pair.indexOf('=');
      const name = equals < 0 ? pair : pair.slice(0, equals);
      const value = equals < 0 ? '' : pair.slice(equals + 1);
      return [decode(name, place), decode(value, place)] as const;
    });
}

/** Returns the query string of an absolute URL, as it was sent. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0) return '';
  const end = url.indexOf('#', mark);
  return end < 0 ? url.slice(mark + 1) : url.slice(mark + 1, end);
}

/** Returns the last value of the parameter. */
export function lastOf(parameters: Parameters, name: string): string | undefined {
  return parameters.findLast(([own]) => own === name)?.[1];
}

function decode(text: string, place: string): string {
  if (!ENCODED.test(text)) return text;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new FhirError('malformed-request', `The ${place} is not percent-encoded UTF-8`);
  }
  if (decoded.includes('\0')) throw new FhirError('malformed-request', `The ${place} holds a null character`);
  return decoded;
}

/** Becomes 415: the request does not take a body of this form. */
export class WrongMediaType extends Error {
  override readonly name = 'WrongMediaType';

  constructor(expected: string, header: 'Content-Type' | 'Content-Encoding' = 'Content-Type') {
    super(`${header}: expected ${expected}`);
  }
}

/**
 * Returns the media type in lower case, and the charset, UTF-8 by default. Throws WrongMediaType for a compressed body.
 */
export function contentTypeOf(c: HttpContext): { readonly mediaType: string; readonly charset: string } {
  const coding = c.req.header('content-encoding')?.trim() ?? '';
  if (coding !== '' && coding.toLowerCase() !== 'identity') throw new WrongMediaType('none', 'Content-Encoding');
  const [mediaType = '', ...parameters] = (c.req.header('content-type') ?? '').toLowerCase().split(';');
  const charset = parameterOf(parameters, 'charset') || 'utf-8';
  return { mediaType: mediaType.trim(), charset: charset === 'utf8' ? 'utf-8' : charset };
}

/**
 * Returns the value of a parameter of a media type, without quotes. By index, not by regular expression: one that skips
 * spaces takes quadratic time in their number, and there may be very many.
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

/** Decodes UTF-8. Throws FhirError `malformed-body` for other bytes. */
export function utf8(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FhirError('malformed-body', 'The body is not UTF-8');
  }
}

const FORM = 'application/x-www-form-urlencoded';

export function urlParameters(c: HttpContext): Parameters {
  return parseParameters(queryOf(c.req.url), 'query string');
}

/** Returns the parameters of a search by POST: those of the URL, then those of the form. No body means none. */
export async function formParameters(c: HttpContext): Promise<Parameters> {
  const bytes = await c.req.arrayBuffer();
  c.set('body', bytes);
  const { mediaType, charset } = contentTypeOf(c);
  if (bytes.byteLength > 0 && (mediaType !== FORM || charset !== 'utf-8'))
    throw new WrongMediaType(`${FORM}, in UTF-8`);
  return [...urlParameters(c), ...parseParameters(utf8(bytes), 'body')];
}
