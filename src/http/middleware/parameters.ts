/**
 * Parses query strings and form bodies to names and values in order, with repeats. Text that is not percent-encoded
 * UTF-8 is refused: URLSearchParams would repair it silently, and the search would answer another question.
 * https://url.spec.whatwg.org/#urlencoded-parsing, https://hl7.org/fhir/R4/http.html#search
 */
import type { SearchRequest } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';

type Parameters = SearchRequest['parameters'];

/** What stands for something else than itself, or must not stand there: a URL holds no null character, a body may. */
const ENCODED = /[%+\0]/;

/** Throws FhirError `invalid`. `place` names the text in messages: `query string`, `body`. */
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
