/**
 * Defines the meaning of a number with a comparator: `<5` is everything below 5 (decision 5). In: a comparator and the
 * bounds of a search. Out: the bounds that the number itself must meet so that the interval matches.
 */
import type { NumberEdge } from './criterion.ts';

/** Longer ones come before those that they begin with. */
export const COMPARATORS = ['<=', '>=', '<', '>'] as const;
export type Comparator = (typeof COMPARATORS)[number];

/**
 * Returns bounds of the number at the end of the interval, all of which must hold; undefined if no interval matches.
 */
export function edgesOfInterval(
  comparator: Comparator,
  edges: readonly NumberEdge[],
): readonly NumberEdge[] | undefined {
  const upper = edges.filter(isUpper);
  if (upper.length > 0 && upper.length < edges.length) return undefined;
  const below = comparator.startsWith('<');
  const closed = comparator.length === 2;
  const ends: NumberEdge[] = [];
  for (const edge of edges) {
    const included = edge.op.length === 2;
    const whole = edge.whole ?? false;
    // An interval without a lower end reaches below every upper bound and lies above no lower one as a whole.
    const endless = below === isUpper(edge);
    if (endless !== whole) {
      if (!endless) return undefined;
      continue;
    }
    const touches = whole ? included || !closed : included && closed;
    const op = isUpper(edge) ? '<' : '>';
    ends.push({ op: touches ? `${op}=` : op, at: edge.at });
  }
  return ends;
}

function isUpper({ op }: NumberEdge): boolean {
  return op === '<' || op === '<=';
}
