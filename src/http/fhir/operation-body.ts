/**
 * Reads the body of an operation: a Parameters resource in JSON or XML. In: a request. Out: names and values, as of a
 * query string.
 * https://hl7.org/fhir/R4/operations.html#request
 */
import { FhirError } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';
import { isMembers, type Members, resourceBody } from './resource-body.ts';

/** Throws FhirError `invalid`. No body stands for no parameters. */
export async function bodyParameters(c: HttpContext): Promise<readonly (readonly [string, string])[]> {
  const body = await resourceBody(c, 'Parameters');
  const { parameter = [] } = body ?? {};
  if (!Array.isArray(parameter)) throw notParameters();
  return parameter.map(one => {
    if (!isMembers(one) || typeof one['name'] !== 'string') throw notParameters();
    return [one['name'], writtenValue(one)] as const;
  });
}

/** The one `value[x]` as a search writes it. */
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

/** A Coding or an Identifier. */
function tokenOf({ system, code, value }: Members): string {
  const own = code ?? value;
  if (typeof own !== 'string' || (system !== undefined && typeof system !== 'string')) throw notParameters();
  return system === undefined ? escaped(own) : `${escaped(system)}|${escaped(own)}`;
}

function escaped(text: string): string {
  return text.replace(/[\\,$|]/g, character => `\\${character}`);
}

function notParameters(): FhirError {
  return new FhirError(
    'malformed-body',
    'The body is not a Parameters resource with a name and a value for each parameter',
  );
}
