/**
 * Reads the parameters of a request from its query string and its form. Out: names and values in order.
 * https://hl7.org/fhir/R4/search.html#Introduction
 */
import type { SearchRequest } from '../../facade.ts';
import type { HttpContext } from '../context.ts';
import { contentTypeOf, utf8, WrongMediaType } from './content-type.ts';
import { parseParameters, queryOf } from './parameters.ts';

type Parameters = SearchRequest['parameters'];

const FORM = 'application/x-www-form-urlencoded';

export function urlParameters(c: HttpContext): Parameters {
  return parseParameters(queryOf(c.req.url), 'query string');
}

/** Of a search by POST: those of the URL, then those of the form. No body stands for none. */
export async function formParameters(c: HttpContext): Promise<Parameters> {
  const bytes = await c.req.arrayBuffer();
  c.set('body', bytes);
  const { mediaType, charset } = contentTypeOf(c);
  if (bytes.byteLength > 0 && (mediaType !== FORM || charset !== 'utf-8')) throw new WrongMediaType(FORM);
  return [...urlParameters(c), ...parseParameters(utf8(bytes), 'body')];
}
