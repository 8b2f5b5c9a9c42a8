/**
 * Reads the text of search values (splitting, escapes, prefixes, the error for a wrong form) within the limits of one
 * request, and the context that a search is parsed in: offers and handling.
 * https://hl7.org/fhir/R4/search.html#escaping, https://hl7.org/fhir/R4/search.html#prefix
 */
import { FhirError } from '../outcome.ts';
import type { CursorCodec } from './cursor.ts';
import type { DateZone } from './dates.ts';
import type { Offers } from './offers.ts';
import type { Prefix, SystemQuery } from './query.ts';

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

/** The value that a search understands as this text. https://hl7.org/fhir/R4/search.html#escaping */
export function escapedValue(text: string): string {
  return text.replace(/[\\,$|]/g, '\\$&');
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

/** Bounds of one request; beyond them a search is refused as too costly. */
export const LIMITS = {
  parameters: 100,
  values: 500,
  valueLength: 4000,
  chainSteps: 4,
  links: 100,
  includes: 20,
} as const;

/** Throws FhirError `too-costly` (400) for more parameters than one request may have. */
export function checkCount(parameters: readonly unknown[]): void {
  if (parameters.length > LIMITS.parameters)
    throw new FhirError('too-costly', `more than ${LIMITS.parameters} parameters in one request`);
}

/**
 * Throws FhirError `too-costly` for a value that is longer than one may be, and for a list of more values than one
 * search may have. A list of values that are short is as long as they are many: it comes in the body of a POST.
 */
export function checkLength(name: string, text: string): void {
  if (text.length <= LIMITS.valueLength) return;
  if (splitEscaped(text, ',').length > LIMITS.values)
    throw new FhirError('too-costly', `more than ${LIMITS.values} values in one search`);
  if (!isTooLong(text)) return;
  throw new FhirError('too-costly', `a value of ${printable(name)} is longer than ${LIMITS.valueLength} characters`);
}

/** Whether one of the values of a parameter is longer than a value may be. */
export function isTooLong(text: string): boolean {
  const most = LIMITS.valueLength;
  return text.length > most && splitEscaped(text, ',').some(value => value.length > most);
}

export interface ParseContext {
  readonly offers: Offers;
  readonly handling: 'strict' | 'lenient';
  readonly zone: DateZone;
  readonly base: string;
  /** What a cursor is bound to beside the query: the caller. */
  readonly caller: string;
  readonly cursors: CursorCodec;
  readonly pageSize: number;
  readonly pageMax: number;
  /** The parsed query of equal parameters in an equal context; without it each search is parsed anew. */
  readonly cached?: (key: string, parse: () => ParsedQuery) => ParsedQuery;
}

/** A search but for where its page begins. */
export type ParsedQuery = Omit<SystemQuery, 'cursor'>;

/** A parameter that is not offered; the message names it and what is offered instead. */
export class UnknownParameter extends Error {
  override readonly name = 'UnknownParameter';
  /** FHIR defines it and resources have values of it; the mappings cannot be asked for them. */
  readonly isWithheld: boolean;

  constructor(message: string, isWithheld = false) {
    super(message);
    this.isWithheld = isWithheld;
  }
}

/** A name from a request, short and without anything that a log or a page could trip over. */
export function printable(name: string): string {
  const kept = name.replace(/[^\w:.$*-]/g, '?');
  return kept.length > 80 ? `${kept.slice(0, 80)}…` : kept;
}
