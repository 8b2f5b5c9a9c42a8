/** Measures how deep parsed JSON nests. In: a value from JSON.parse. Out: whether it is too deep for recursive code. */

/**
 * Maximum depth of JSON that others send. No resource and no token is this deep; a deeper one would exhaust the stack
 * of code that walks, copies or writes it.
 */
export const DEEPEST = 100;

/** True if objects and arrays nest deeper than `levels`. */
export function isDeeper(value: unknown, levels: number = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1));
}
