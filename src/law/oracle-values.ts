/**
 * Defines what the parts of the reference implementation of search share: values of JSON with their FHIR types, and the
 * prefix of a value in a query.
 */

/** A value that an expression finds, with its FHIR type. */
export interface Indexed {
  readonly type: string;
  readonly value: unknown;
}

export type Answers = (indexed: Indexed) => boolean;
export type Json = Readonly<Record<string, unknown>>;

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

export function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Json)[name] : undefined;
}

/** Separators that are not escaped with a backslash. Of two backslashes the first escapes the second. */
const SEPARATORS = {
  ',': /(?<=(?:^|[^\\])(?:\\\\)*),/,
  $: /(?<=(?:^|[^\\])(?:\\\\)*)\$/,
  '|': /(?<=(?:^|[^\\])(?:\\\\)*)\|/,
} as const;

/** Returns the parts of a query's text, each still escaped. https://hl7.org/fhir/R4/search.html#escaping */
export function partsOf(text: string, separator: keyof typeof SEPARATORS): readonly string[] {
  return text.split(SEPARATORS[separator]);
}

/** Returns a part without its escapes. */
export function plain(text: string): string {
  return text.replace(/\\([,$|\\])/g, '$1');
}

const PREFIX = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)/;

export function prefixOf(text: string): { readonly prefix: string; readonly rest: string } {
  const prefix = PREFIX.exec(text)?.[1];
  return prefix === undefined ? { prefix: 'eq', rest: text } : { prefix, rest: text.slice(2) };
}
