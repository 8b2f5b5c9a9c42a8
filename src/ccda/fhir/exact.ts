/**
 * Resources as the pipeline writes them. In: JSON text. Out: data that keeps the digits of quantities.
 */

/**
 * JSON text of a resource or Bundle, quantities kept as text. A member of that form within a string has its quotation
 * marks escaped, so that the pattern cannot meet it there.
 */
export function parseExactly(json: string): unknown {
  return JSON.parse(json.replace(/"value":(-?\d[\d.eE+-]*)/g, '"value":"$1"'));
}
