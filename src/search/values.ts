/**
 * Reads the text of search values (splitting, escapes, prefixes, the error for a wrong form) within the limits of one
 * request. Defines the context that a search is parsed in: offers and handling.
 * https://hl7.org/fhir/R4/search.html#escaping, https://hl7.org/fhir/R4/search.html#prefix
 */
import { FhirError } from '../outcome.ts';
import type { CursorCodec } from './cursor.ts';
import type { DateZone } from './dates.ts';
import type { Offers } from './offers.ts';
import type { Prefix, SystemQuery } from './query.ts';

const PREFIXES: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']);

export interface ValueContext {
  /** Name of the parameter in the request, for messages. */
  readonly name: string;
  readonly zone: DateZone;
  /** Base URL of this server. Absolute references that begin with it are local. */
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

/** Replaces `\,` `\$` `\|` `\\` by the character itself. */
export function unescaped(text: string): string {
  return text.replace(/\\([,$|\\])/g, '$1');
}

/** Escapes a text so that a search reads it as this value. https://hl7.org/fhir/R4/search.html#escaping */
export function escapedValue(text: string): string {
  return text.replace(/[\\,$|]/g, '\\$&');
}

/** Splits a date, number or quantity into prefix and rest; the default prefix is `eq`. */
export function prefixed(text: string): { readonly prefix: Prefix; readonly rest: string } {
  const start = text.slice(0, 2);
  return isPrefix(start) ? { prefix: start, rest: text.slice(2) } : { prefix: 'eq', rest: text };
}

function isPrefix(text: string): text is Prefix {
  return PREFIXES.has(text);
}

/** Makes the error for a value of the wrong form. */
export function wrong(context: Pick<ValueContext, 'name'>, expected: string): FhirError {
  return new FhirError('wrong-value', `parameter ${context.name} expects ${expected}`, { parameter: context.name });
}

/** Limits of one request. A search beyond them is refused as too costly. */
export const LIMITS = {
  parameters: 100,
  values: 500,
  /** Each value once for each type that is searched. */
  valuesOfTypes: 5000,
  /** Units and composite values that no comparison joins (`unjoinedIn`). */
  unjoined: 30,
  valueLength: 4000,
  chainSteps: 4,
  links: 100,
  includes: 20,
} as const;

/** Throws FhirError `too-costly` (400) if a request has too many parameters. */
export function checkCount(parameters: readonly unknown[]): void {
  if (parameters.length > LIMITS.parameters)
    throw new FhirError('too-costly', `more than ${LIMITS.parameters} parameters in one request`);
}

/**
 * Throws FhirError `too-costly` for a value that is too long, and for a list of too many values. A list of short values
 * may be longer: it comes in the body of a POST.
 */
export function checkLength(name: string, text: string): void {
  if (text.length <= LIMITS.valueLength) return;
  if (splitEscaped(text, ',').length > LIMITS.values)
    throw new FhirError('too-costly', `more than ${LIMITS.values} values in one search`);
  if (!isTooLong(text)) return;
  throw new FhirError('too-costly', `a value of ${printable(name)} is longer than ${LIMITS.valueLength} characters`);
}

/** True if one of the values of a parameter is too long. */
export function isTooLong(text: string): boolean {
  const most = LIMITS.valueLength;
  return text.length > most && splitEscaped(text, ',').some(value => value.length > most);
}

export interface ParseContext {
  readonly offers: Offers;
  readonly handling: 'strict' | 'lenient';
  readonly zone: DateZone;
  readonly base: string;
  /** The caller, which a cursor is bound to besides the query. */
  readonly caller: string;
  readonly cursors: CursorCodec;
  readonly pageSize: number;
  readonly pageMax: number;
  /** Returns the parsed query of equal parameters in an equal context. Without it each search is parsed again. */
  readonly cached?: (key: string, parse: () => ParsedQuery) => ParsedQuery;
}

/** A search without the start of its page. */
export type ParsedQuery = Omit<SystemQuery, 'cursor'>;

/** A parameter that is not offered. The message names it and the offered ones. */
export class UnknownParameter extends Error {
  override readonly name = 'UnknownParameter';
  /** FHIR defines it and resources have values of it, but the mappings cannot search them. */
  readonly isWithheld: boolean;

  constructor(message: string, isWithheld = false) {
    super(message);
    this.isWithheld = isWithheld;
  }
}

/** Returns a name from a request, shortened and without characters that could harm a log or a page. */
export function printable(name: string): string {
  const kept = name.replace(/[^\w:.$*-]/g, '?');
  return kept.length > 80 ? `${kept.slice(0, 80)}…` : kept;
}
