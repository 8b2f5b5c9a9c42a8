/**
 * Orders the rows of a branch, and continues after a cursor by its key. There is no OFFSET, so that page 1,000 costs
 * as much as page 1.
 */

import type { Cursor } from '../search/cursor.ts';
import type { SortKey } from '../search/query.ts';
import { INTEGER } from '../sql/column-type.ts';
import { and, compare, equals, FALSE, or, placed, TRUE, value } from '../sql/construct.ts';
import type { Expression, Operator, Order, Predicate } from '../sql/expression.ts';
import type { Branch } from './branches.ts';
import type { SortFace } from './sort-face.ts';

/** Sort values come first, the unique key last. */
export function orderOf(branch: Branch, sort: readonly SortKey[]): readonly Order[] {
  const order: Order[] = [];
  branch.sort.forEach((face, i) => {
    for (const by of face?.by ?? []) order.push({ by, descending: sort[i]?.descending ?? false });
  });
  // Keys come in the order of their own index, whatever its collation.
  for (const by of branch.mappings[0]?.mapping.source.key ?? []) order.push({ by, descending: false, native: true });
  return order;
}

/**
 * Rows of a branch that come after a cursor, or at its row: the row itself may have further resources (`inclusive`).
 * Without sort keys this is a plain comparison of keys. `place`: the first place of the cursor's key in a plan that is
 * used again.
 */
export function afterCursor(branch: Branch, sort: readonly SortKey[], cursor: Cursor, place?: number): Predicate {
  const position = positionOf(branch, sort, cursor);
  const bound = leadingBound(branch, sort, cursor);
  const same = branch.group === cursor.group;
  const before = position.after;
  if (position.tied.kind === 'false') return and(bound, before);
  // Equal sort values: branches in order of ordinals, and within the cursor's own branch rows in order of keys.
  if (!same) return and(bound, branch.ordinal > cursor.branch ? or(before, position.tied) : before);
  return and(bound, or(before, and(position.tied, fromKey(branch, cursor, place))));
}

/**
 * What all rows after the cursor have in common: by it an index on the first sort column is entered at the cursor. The
 * OR of the exact position alone would be read from one end of the index, page after page.
 */
function leadingBound(branch: Branch, sort: readonly SortKey[], cursor: Cursor): Predicate {
  const [face] = branch.sort;
  const key = cursor.sort[0] ?? null;
  const [raw] = (face && key !== null && face.side?.(key) === undefined && face.order.fromKey(key)) || [];
  if (!face || raw === undefined) return TRUE;
  return compareAt(face, 0, sort[0]?.descending ? '<=' : '>=', value(raw, face.by[0]?.type ?? INTEGER));
}

function fromKey(branch: Branch, cursor: Cursor, place: number | undefined): Predicate {
  const key = branch.mappings[0]?.mapping.source.key ?? [];
  // What has no rows goes on within them all.
  if (key.length === 0) return TRUE;
  const against = (i: number, op: Operator): Predicate => {
    const column = key[i];
    if (!column) return FALSE;
    const content = cursor.key[i] ?? null;
    return {
      kind: 'compare',
      left: column,
      op,
      right: place === undefined ? value(content, column.type) : placed(content, column.type, place + i),
      native: true,
      not: false,
    };
  };
  const steps = key.map((_, i) =>
    and(...key.slice(0, i).map((_, j) => against(j, '=')), against(i, i === key.length - 1 ? '>=' : '>')),
  );
  // The leading bound lets the index be entered at the cursor even though the rest is an OR.
  return key.length > 1 ? and(against(0, '>='), or(...steps)) : or(...steps);
}

/** Rows whose sort values come strictly after the cursor's, and rows whose sort values are the same. */
function positionOf(
  branch: Branch,
  sort: readonly SortKey[],
  cursor: Cursor,
): { readonly after: Predicate; readonly tied: Predicate } {
  let tied: Predicate = TRUE;
  const after: Predicate[] = [];
  branch.sort.forEach((face, i) => {
    const key = cursor.sort[i] ?? null;
    const descending = sort[i]?.descending ?? false;
    if (!face) {
      // All rows of this branch are missing the value: last, so after any present one, tied with a missing one.
      if (key !== null) {
        after.push(tied);
        tied = FALSE;
      }
      return;
    }
    if (key === null) {
      tied = FALSE;
      return;
    }
    const side = face.side?.(key);
    const raws = side === undefined ? face.order.fromKey(key) : undefined;
    if (raws === undefined) {
      if ((side === 'above') !== descending) after.push(tied);
      tied = FALSE;
      return;
    }
    const own = face.order.toKey(raws);
    // A branch whose values never have exactly this key has no ties with it: its next rows are at or after `raws`.
    const exact = own === key || own === undefined;
    const limits = raws.map((raw, j) => value(raw, face.by[j]?.type ?? INTEGER));
    const beyond = descending ? '<' : '>';
    limits.forEach((limit, j) => {
      const last = j === limits.length - 1;
      const op = last && !exact && !descending ? '>=' : beyond;
      after.push(and(tied, ...sameValues(face, limits.slice(0, j)), compareAt(face, j, op, limit)));
    });
    tied = exact ? and(tied, ...sameValues(face, limits)) : FALSE;
  });
  return { after: or(...after), tied };
}

function sameValues(face: SortFace, limits: readonly Expression[]): readonly Predicate[] {
  return limits.map((limit, i) => {
    const by = face.by[i];
    return by ? equals(by, limit) : FALSE;
  });
}

function compareAt(face: SortFace, at: number, op: Operator, limit: Expression): Predicate {
  const by = face.by[at];
  return by ? compare(by, op, limit) : FALSE;
}
