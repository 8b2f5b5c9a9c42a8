/**
 * Reads headers, parameters and body of a request. In: the request. Out: text of a header; names and values of the
 * query string and of a form in order, with repeats. RFC 9110 section 8.3, https://hl7.org/fhir/R4/http.html#search,
 * https://url.spec.whatwg.org/#urlencoded-parsing
 */
import { getPathNoStrict } from 'hono/utils/url';
import type { Parameters } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';

/**
 * A header from Node's own request, if there is one: the framework would first copy all headers into an object, which
 * takes longer than the rest of the work on them. Values of a header that was sent several times are joined with
 * commas. `name` in small letters.
 */
export function headerOf(c: HttpContext, name: string): string | undefined {
  const incoming = c.env?.incoming;
  if (incoming === undefined) return c.req.header(name);
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The path that routes are looked up by. A slash at its end means nothing, for clients write the base with one and
 * without; `%24` is the `$` of an operation, which many of them encode.
 */
export function pathOf(request: Request): string {
  return getPathNoStrict(request).replaceAll('%24', '$');
}

/** A segment of a path as people read it; one that is not percent-encoded UTF-8 as it was sent. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** What stands for something else than itself, or must not stand there: a URL holds no null character, a body may. */
const ENCODED = /[%+\0]/;

/**
 * Text that is not percent-encoded UTF-8 is refused: URLSearchParams would repair it silently, and the search would
 * answer another question. Throws FhirError `malformed-request`. `place` names the text in messages: `query string`,
 * `body`.
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

/** The query string of an absolute URL, as it was sent. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0) return '';
  const end = url.indexOf('#', mark);
  return end < 0 ? url.slice(mark + 1) : url.slice(mark + 1, end);
}

/** The last value of a parameter of that name. */
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

/** Throws FhirError `malformed-body` for bytes that are no UTF-8. */
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

/** Of a search by POST: those of the URL, then those of the form. No body stands for none. */
export async function formParameters(c: HttpContext): Promise<Parameters> {
  const bytes = await c.req.arrayBuffer();
  c.set('body', bytes);
  const { mediaType, charset } = contentTypeOf(c);
  if (bytes.byteLength > 0 && (mediaType !== FORM || charset !== 'utf-8'))
    throw new WrongMediaType(`${FORM}, in UTF-8`);
  return [...urlParameters(c), ...parseParameters(utf8(bytes), 'body')];
}
