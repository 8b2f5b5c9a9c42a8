/**
 * Order of a branch's rows, and where to continue after a cursor. No OFFSET: page 1,000 costs what page 1 costs.
 */

import type { Cursor } from '../search/cursor.ts';
import type { SortKey } from '../search/query.ts';
import { INTEGER } from '../sql/column-type.ts';
import {
  and,
  compare,
  type Expression,
  equals,
  FALSE,
  flag,
  not,
  type Order,
  or,
  type Predicate,
  TRUE,
  value,
} from '../sql/expression.ts';
import type { Branch } from './branches.ts';

/** One comparison of the keyset: rows come in order of these, the last ones unique. */
interface Term {
  readonly by: Expression;
  readonly descending: boolean;
}

/** Sort values of a row come first: for each key its rank (0 present, 1 missing) and its expressions. */
export interface BranchOrder {
  readonly terms: readonly Term[];
  readonly orderBy: readonly Order[];
}

export function orderOf(branch: Branch, sort: readonly SortKey[]): BranchOrder {
  const terms: Term[] = [];
  branch.sort.forEach((face, i) => {
    if (!face) return;
    if (face.present.kind !== 'true' && !servedAlways(branch, face.present)) {
      terms.push({ by: flag(not(face.present)), descending: false });
    }
    for (const by of face.by) terms.push({ by, descending: sort[i]?.descending ?? false });
  });
  const [{ mapping } = { mapping: undefined }] = branch.mappings;
  for (const by of mapping?.source.key ?? []) terms.push({ by, descending: false });
  return { terms, orderBy: terms.map(({ by, descending }) => ({ by, descending })) };
}

/** The presence is among the conditions of every row already. */
function servedAlways(branch: Branch, present: Predicate): boolean {
  const conditions = new Set(
    (branch.where.kind === 'and' ? branch.where.of : [branch.where]).map(p => JSON.stringify(p)),
  );
  return (present.kind === 'and' ? present.of : [present]).every(part => conditions.has(JSON.stringify(part)));
}

/**
 * Rows of a branch that come after a cursor, or at its row: the row itself may have further resources (`inclusive`).
 * Without sort keys this is a plain comparison of keys.
 */
export function afterCursor(branch: Branch, sort: readonly SortKey[], cursor: Cursor): Predicate {
  const position = positionOf(branch, sort, cursor);
  const same = branch.group === cursor.group;
  const before = position.after;
  if (position.tied.kind === 'false') return before;
  // Equal sort values: branches in order of ordinals, and within the cursor's own branch rows in order of keys.
  if (!same) return branch.ordinal > cursor.branch ? or(before, position.tied) : before;
  return or(before, and(position.tied, fromKey(branch, cursor)));
}

function fromKey(branch: Branch, cursor: Cursor): Predicate {
  const key = branch.mappings[0]?.mapping.source.key ?? [];
  const bound = (i: number): Expression | undefined => {
    const column = key[i];
    return column && value(cursor.key[i] ?? null, column.type);
  };
  const steps = key.map((column, i) => {
    const limit = bound(i);
    if (!limit) return FALSE;
    const prior = key.slice(0, i).map((k, j) => {
      const equal = bound(j);
      return equal ? equals(k, equal) : FALSE;
    });
    return and(...prior, compare(column, i === key.length - 1 ? '>=' : '>', limit));
  });
  const [leading] = key;
  const start = bound(0);
  // The leading bound lets the index be entered at the cursor even though the rest is an OR.
  return key.length > 1 && leading && start ? and(compare(leading, '>=', start), or(...steps)) : or(...steps);
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
      tied = and(tied, not(face.present));
      return;
    }
    const raws = face.order.fromKey(key);
    const limits = face.by.map((by, j) => value(raws[j] ?? null, by.type));
    after.push(and(tied, not(face.present)));
    face.by.forEach((by, j) => {
      const limit = limits[j];
      if (!limit) return;
      const equalBefore = face.by.slice(0, j).map((b, k) => equals(b, limits[k] ?? limit));
      after.push(and(tied, face.present, ...equalBefore, compare(by, descending ? '<' : '>', limit)));
    });
    tied = and(tied, face.present, ...face.by.map((b, k) => equals(b, limits[k] ?? value(null, INTEGER))));
  });
  return { after: or(...after), tied };
}
