/**
 * Helpers to read the text of a search value: splitting, escapes, prefixes, the error for a wrong form.
 * https://hl7.org/fhir/R4/search.html#escaping, https://hl7.org/fhir/R4/search.html#prefix
 */
import { FhirError } from '../outcome.ts';
import type { DateZone } from './dates.ts';
import type { Prefix } from './query.ts';

const PREFIXES: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']);

export interface ValueContext {
  /** How the parameter was named in the request, for messages. */
  readonly name: string;
  readonly zone: DateZone;
  /** Base of this server: absolute references to it are local ones. */
  readonly base: string;
}

/** Splits at a separator that is not escaped with a backslash. */
export function splitEscaped(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === '\\') part += character + (text[++i] ?? '');
    else if (character === separator) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}

/** `\,` `\$` `\|` `\\` become the character itself. */
export function unescaped(text: string): string {
  return text.replace(/\\([,$|\\])/g, '$1');
}

/** The prefix of a date, number or quantity, and the rest; `eq` where there is none. */
export function prefixed(text: string): { readonly prefix: Prefix; readonly rest: string } {
  const start = text.slice(0, 2);
  return isPrefix(start) ? { prefix: start, rest: text.slice(2) } : { prefix: 'eq', rest: text };
}

function isPrefix(text: string): text is Prefix {
  return PREFIXES.has(text);
}

/** The error for a value of the wrong form. */
export function wrong(context: Pick<ValueContext, 'name'>, expected: string): FhirError {
  return new FhirError('wrong-value', `parameter ${context.name} expects ${expected}`, { parameter: context.name });
}
