/**
 * Resources as data, for parts of the server that read them instead of sending them. In: the JSON text that a writer
 * made. Out: an object in which the values of quantities are strings, so that `1.50` keeps its digits.
 */

/** A resource as data. */
export interface ResourceData {
  readonly resourceType: string;
  readonly id: string;
}

/** The pattern matches members only: within a JSON string the quotation marks would be escaped. */
export function parseExactly<T = ResourceData>(json: string): T {
  return JSON.parse(json.replace(/"value":(-?\d[\d.eE+-]*)/g, '"value":"$1"'));
}
