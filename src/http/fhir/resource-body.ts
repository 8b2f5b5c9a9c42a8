/**
 * Reads the resource in a request's body, in JSON or XML. In: a request. Out: its members as in FHIR JSON; undefined
 * without a body. Throws FhirError and WrongMediaType (415).
 * https://hl7.org/fhir/R4/http.html#mime-type
 */
import { DEEPEST, isDeeper } from '../../common/depth.ts';
import { FhirError } from '../../outcome.ts';
import { fromXml, XmlError } from '../../resource/from-xml.ts';
import { escapedValue } from '../../search/values.ts';
import type { HttpContext } from '../context.ts';
import { formatOf } from '../middleware/negotiate.ts';
import { contentTypeOf, urlParameters, utf8, WrongMediaType } from '../middleware/request.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Throws FhirError `malformed-body` if the body is not a resource of this type. */
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
    // The parser's message would repeat the text.
    throw new FhirError('malformed-body', 'The body is not JSON');
  }
  if (hasRepeatedName(text)) throw new FhirError('malformed-body', 'The body names something twice in one object');
  if (isDeeper(body)) throw new FhirError('malformed-body', `The body nests deeper than ${DEEPEST} levels`);
  return body;
}

function parseXml(text: string): unknown {
  try {
    return fromXml(text);
  } catch (error) {
    if (error instanceof XmlError) throw new FhirError('malformed-body', `The body is no FHIR XML: ${error.message}`);
    throw error;
  }
}

/** A string, or a structural character except the comma. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/**
 * True if an object in a JSON text has the same name twice. JSON.parse keeps the last value and other readers the
 * first, so they would read different things. In: a text that JSON.parse accepts.
 * https://hl7.org/fhir/R4/json.html, RFC 8259 section 4
 */
export function hasRepeatedName(json: string): boolean {
  const names: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKEN)) {
    switch (token) {
      case '{':
        names.push(new Set());
        break;
      case '[':
        names.push(undefined);
        break;
      case '}':
      case ']':
        names.pop();
        break;
      case ':': {
        const seen = names.at(-1);
        // `\u0061` is the same name as `a`.
        const name = String(JSON.parse(last));
        if (seen?.has(name)) return true;
        seen?.add(name);
        break;
      }
      default:
        last = token;
    }
  }
  return false;
}

/**
 * Returns the parameters of an operation by POST: those of the URL, then those of the body, a Parameters resource in
 * JSON or XML, as names and values of a query string. No body means no parameters.
 * https://hl7.org/fhir/R4/operations.html#request
 * Throws FhirError `malformed-body`.
 */
export async function bodyParameters(c: HttpContext): Promise<readonly (readonly [string, string])[]> {
  const body = await resourceBody(c, 'Parameters');
  const { parameter = [] } = body ?? {};
  if (!Array.isArray(parameter)) throw notParameters();
  const own = parameter.map(one => {
    if (!isMembers(one) || typeof one['name'] !== 'string') throw notParameters();
    return [one['name'], writtenValue(one)] as const;
  });
  return [...urlParameters(c), ...own];
}

/** Returns the one `value[x]` as a search writes it. */
function writtenValue(parameter: Members): string {
  const [value, ...more] = Object.entries(parameter).flatMap(([name, one]) => (/^value[A-Z]/.test(name) ? [one] : []));
  if (more.length > 0) throw notParameters();
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!isMembers(value)) throw notParameters();
  const { reference, coding } = value;
  if (typeof reference === 'string') return reference;
  const tokens = Array.isArray(coding) ? coding.filter(isMembers).map(tokenOf) : [tokenOf(value)];
  if (tokens.length === 0) throw notParameters();
  return tokens.join(',');
}

/** Writes a Coding or an Identifier as a search token. */
function tokenOf({ system, code, value }: Members): string {
  const own = code ?? value;
  if (typeof own !== 'string' || (system !== undefined && typeof system !== 'string')) throw notParameters();
  return system === undefined ? escapedValue(own) : `${escapedValue(system)}|${escapedValue(own)}`;
}

function notParameters(): FhirError {
  return new FhirError(
    'malformed-body',
    'The body is not a Parameters resource with a name and a value for each parameter',
  );
}
