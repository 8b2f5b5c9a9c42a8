/**
 * Estimates what a tree of predicates and expressions holds in memory, with the SQL that is written of it. In: the
 * tree, or a list of trees. Out: bytes. Mappings that it names belong to their registry and weigh nothing.
 */

/** Bytes of an object, about. */
const NODE = 100;

/** The walk ends at `most`: what is heavier need not be known. */
export function weightOf(tree: object, most: number): number {
  let bytes = 0;
  const open: object[] = [tree];
  for (let part = open.pop(); part !== undefined && bytes < most; part = open.pop()) {
    bytes += NODE;
    for (const [name, value] of Object.entries(part)) {
      if (typeof value === 'string') bytes += value.length;
      else if (typeof value === 'object' && value !== null && !APART.has(name)) open.push(value);
    }
  }
  return bytes;
}

const APART: ReadonlySet<string> = new Set(['mapping', 'type']);
