/**
 * Parses JSON and keeps the digits of numbers, because `1.50` says more than 1.5. In: JSON text. Out: its value, with
 * numbers as `{rawJSON: '1.50'}`, which JSON.stringify writes unchanged.
 * https://github.com/tc39/proposal-json-parse-with-source
 */

/** A number as it is written. */
export interface RawNumber {
  readonly rawJSON: string;
}

export type Json = string | boolean | null | RawNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** TypeScript's libraries do not declare the third parameter of a reviver. */
const parse = JSON.parse as unknown as (text: string, reviver: Reviver) => unknown;

/** Throws SyntaxError if the text is not JSON. */
export function parseRaw(json: string): Json {
  return parse(json, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  ) as Json;
}
