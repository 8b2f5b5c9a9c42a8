/**
 * Parses resources for parts of the server that read them instead of sending them. In: JSON text from a writer. Out: an
 * object in which the values of quantities are strings, so that `1.50` keeps its digits.
 */

/** A resource as data. */
export interface ResourceData {
  readonly resourceType: string;
  readonly id: string;
}

/** Parses the text. The pattern matches only members, because quotation marks inside a JSON string are escaped. */
export function parseExactly<T = ResourceData>(json: string): T {
  return JSON.parse(json.replace(/"value":(-?\d[\d.eE+-]*)/g, '"value":"$1"'));
}
