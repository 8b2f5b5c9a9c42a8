/**
 * The body of an operation: a Parameters resource in JSON. In: a request. Out: names and values as of a query string.
 * https://hl7.org/fhir/R4/operations.html#request
 */
import { FhirError } from '../outcome.ts';
import type { HttpContext } from './context.ts';

const MEDIA_TYPES = new Set(['application/fhir+json', 'application/json']);

/** Throws FhirError `invalid`. No body stands for no parameters. */
export async function bodyParameters(c: HttpContext): Promise<readonly (readonly [string, string])[]> {
  const text = await c.req.text();
  if (text.trim() === '') return [];
  const [mediaType = ''] = (c.req.header('content-type') ?? '').split(';');
  if (!MEDIA_TYPES.has(mediaType.trim().toLowerCase())) {
    throw new FhirError('invalid', 'Content-Type: expected application/fhir+json');
  }
  const body = parsed(text);
  if (!isObject(body) || body['resourceType'] !== 'Parameters') throw notParameters();
  const { parameter = [] } = body;
  if (!Array.isArray(parameter)) throw notParameters();
  return parameter.map(one => {
    if (!isObject(one) || typeof one['name'] !== 'string') throw notParameters();
    return [one['name'], textOf(one)] as const;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message repeats the text.
    throw new FhirError('invalid', 'The body is not JSON');
  }
}

/** The one `value[x]`, a reference by its text. */
function textOf(parameter: Readonly<Record<string, unknown>>): string {
  const [value, ...more] = Object.entries(parameter).flatMap(([name, one]) => (/^value[A-Z]/.test(name) ? [one] : []));
  if (more.length > 0) throw notParameters();
  if (isObject(value) && typeof value['reference'] === 'string') return value['reference'];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw notParameters();
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notParameters(): FhirError {
  return new FhirError('invalid', 'The body is not a Parameters resource with a name and a value for each parameter');
}
