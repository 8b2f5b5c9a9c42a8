/**
 * FHIR JSON text → response in the representation that was asked for; and conditional reads.
 * https://hl7.org/fhir/R4/http.html#read, RFC 9110 section 13
 */
import { createHash } from 'node:crypto';
import type { ResourceText } from '../facade.ts';
import { FhirError, type Issue, operationOutcome } from '../outcome.ts';
import { toXml } from '../resource/xml.ts';
import { encodeBody } from './compress.ts';
import type { HttpContext } from './context.ts';
import { CONTENT_TYPE, type Format, negotiate } from './negotiate.ts';
import { lastOf, parseParameters, queryOf } from './parameters.ts';
import { indentJson } from './pretty.ts';

/** How the representation is written. */
export interface Representation {
  readonly format: Format;
  readonly pretty: boolean;
}

type Parameters = ReturnType<typeof parseParameters>;

/** From `_format`, `_pretty` and Accept. Throws FhirError `not-acceptable` or `value`. */
export function representationOf(c: HttpContext, parameters: Parameters): Representation {
  const pretty = lastOf(parameters, '_pretty');
  if (pretty !== undefined && pretty !== 'true' && pretty !== 'false') {
    throw new FhirError('value', '_pretty: expected true or false', { parameter: '_pretty' });
  }
  const format = negotiate(lastOf(parameters, '_format'), c.req.header('accept'));
  return { format, pretty: pretty === 'true' };
}

/** 200, or another status, with a resource. */
export async function respond(
  c: HttpContext,
  json: string,
  { format, pretty }: Representation,
  status: 200 | 400 = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = format === 'xml' ? toXml(json) : pretty ? indentJson(json) : json;
  const { body, encoding } = await encodeBody(Buffer.from(text, 'utf8'), c.req.header('accept-encoding'));
  c.header('Vary', 'Accept-Encoding', { append: true });
  return c.body(body, status, {
    'Content-Type': CONTENT_TYPE[format],
    'Content-Length': String(body.byteLength),
    ...encoding,
    ...headers,
  });
}

/** A read: with validators, and 304 where the client has this version already. */
export async function respondToRead(
  c: HttpContext,
  resource: ResourceText,
  representation: Representation,
): Promise<Response> {
  const etag = `W/"${createHash('sha256').update(resource.json).digest('base64url').slice(0, 22)}"`;
  const changed = resource.lastUpdated === undefined ? Number.NaN : Date.parse(resource.lastUpdated);
  const seconds = Number.isNaN(changed) ? undefined : Math.floor(changed / 1000);
  const headers = {
    ETag: etag,
    ...(seconds === undefined ? {} : { 'Last-Modified': new Date(seconds * 1000).toUTCString() }),
  };
  if (isUnchanged(c, etag, seconds)) return c.body(null, 304, headers);
  return respond(c, resource.json, representation, 200, headers);
}

/** If-None-Match is compared weakly and decides alone where it is sent. */
function isUnchanged(c: HttpContext, etag: string, changed: number | undefined): boolean {
  const match = c.req.header('if-none-match');
  if (match !== undefined) {
    const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
    return match.trim() === '*' || match.split(',').some(tag => opaque(tag) === opaque(etag));
  }
  const since = Date.parse(c.req.header('if-modified-since') ?? '');
  return changed !== undefined && !Number.isNaN(since) && changed * 1000 <= since;
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
