/**
 * Finds the lookups in the `each` of pieces. In: pieces. Out: the rows to fetch for them: a lookup that joins parts of
 * a piece belongs to the piece, and lookups that join its columns belong to its rows.
 */
import { memoized } from '../common/caches.ts';
import type { ChildRows, EachNode, Lookup, Pieces, Scope } from './model.ts';

export interface PieceRows {
  /** Its item is empty: the `each` of the pieces uses the rows. */
  readonly node: EachNode & { readonly from: ChildRows };
  /** A piece without a row gives no item. */
  readonly required: boolean;
}

/** Returns one for each lookup that joins parts of a piece, in order. The same pieces give the same objects. */
export const rowsOfLookups = memoized((pieces: Pieces): readonly PieceRows[] =>
  lookupGroups(pieces).map(([first, ...further]): PieceRows => {
    const { table, alias, where, on, pick, at } = first;
    const scope = { table, alias, where, lookups: further };
    const from: ChildRows = { kind: 'rows', scope, on, order: pick, of: pieces, single: true };
    const item = { kind: 'list', items: [], type: '', at } as const;
    return {
      node: { kind: 'each', from, item, type: '', at },
      required: [first, ...further].some(({ required }) => required),
    };
  }),
);

/** Groups each lookup that joins parts of a piece with those that join its columns, directly or through one of them. */
function lookupGroups({ alias, lookups = [] }: Pieces): readonly (readonly [Lookup, ...Lookup[]])[] {
  const groups: [Lookup, ...Lookup[]][] = [];
  for (const lookup of lookups) {
    const ours = lookup.on.map(on => on.ours.alias);
    const group = groups.find(some => some.some(one => ours.includes(one.alias)));
    if (group && !ours.includes(alias)) group.push(lookup);
    else groups.push([lookup]);
  }
  return groups;
}

/** Returns the rows that an `each` reads: child rows, or the lookups of its pieces. */
export function scopesOf(from: EachNode['from']): readonly Scope[] {
  return from.kind === 'rows' ? [from.scope] : rowsOfLookups(from).map(({ node }) => node.from.scope);
}
