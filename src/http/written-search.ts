/**
 * Reads a search as a person writes it. In: `Patient?name=smith`, with or without an address before it. Out: a request.
 */
import type { SearchRequest } from '../facade.ts';
import { parseParameters } from './middleware/request.ts';

/** Throws FhirError `malformed-request` if the text is not encoded as in a URL. */
export function writtenSearch(text: string): SearchRequest {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    type: path.slice(path.lastIndexOf('/') + 1),
    parameters: parseParameters(mark < 0 ? '' : text.slice(mark + 1), 'query'),
  };
}
