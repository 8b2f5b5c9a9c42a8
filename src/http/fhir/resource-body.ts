/**
 * Reads the resource in a request's body, in JSON or XML. In: a request. Out: its members as in FHIR JSON; undefined
 * without a body. Errors: FhirError, and WrongMediaType (415).
 * https://hl7.org/fhir/R4/http.html#mime-type
 */
import { FhirError } from '../../outcome.ts';
import { fromXml, XmlError } from '../../resource/from-xml.ts';
import type { HttpContext } from '../context.ts';
import { formatOf } from '../middleware/negotiate.ts';
import { contentTypeOf, utf8, WrongMediaType } from '../middleware/request.ts';
import { hasRepeatedName } from './repeated-name.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Throws FhirError `invalid` for what is no resource of this type. */
export async function resourceBody(c: HttpContext, type: string): Promise<Members | undefined> {
  const bytes = await c.req.arrayBuffer();
  c.set('body', bytes);
  if (bytes.byteLength === 0) return undefined;
  const { mediaType, charset } = contentTypeOf(c);
  const format = formatOf(mediaType);
  if (format === undefined || charset !== 'utf-8')
    throw new WrongMediaType('application/fhir+json or application/fhir+xml, in UTF-8');
  const text = utf8(bytes);
  if (text.trim() === '') return undefined;
  const body = format === 'xml' ? parseXml(text) : parseJson(text);
  if (!isMembers(body) || body['resourceType'] !== type)
    throw new FhirError('malformed-body', `The body is no ${type} resource`);
  return body;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The parser's message repeats the text.
    throw new FhirError('malformed-body', 'The body is not JSON');
  }
  if (hasRepeatedName(text)) throw new FhirError('malformed-body', 'The body names something twice in one object');
  if (isDeeper(body, DEEPEST)) throw new FhirError('malformed-body', `The body nests deeper than ${DEEPEST} levels`);
  return body;
}

/** No resource nests so deep; what does would exhaust the stack of whoever walks or writes it. */
const DEEPEST = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1));
}

function parseXml(text: string): unknown {
  try {
    return fromXml(text);
  } catch (error) {
    if (error instanceof XmlError) throw new FhirError('malformed-body', `The body is no FHIR XML: ${error.message}`);
    throw error;
  }
}
