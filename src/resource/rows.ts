/**
 * Assigns child rows to their parent rows. In: the rows of a page and, per child shape, the child rows of the whole
 * page in order. Out: the children of each row. Keys compare as in joins: exactly, ignoring trailing blanks.
 */
import type { Row } from '../sql/plan.ts';
import { inUpperCase, pieceKeys } from './each.ts';
import { type Canonical, canonicalPair } from './raw.ts';
import type { ChildShape, LevelShape } from './shape.ts';

/** The child rows of one row, per child shape of its level, in order. */
export type Children = readonly (readonly ChildRow[])[];

export interface ChildRow {
  readonly row: Row;
  readonly children: Children;
}

export const NO_CHILDREN: Children = [];

/** Returns the children of each of `parents`, from one list of child rows per child shape of the level. */
export function childrenOf(
  parents: readonly Row[],
  level: LevelShape,
  lists: readonly (readonly ChildRow[])[],
): readonly Children[] {
  if (level.children.length === 0) return parents.map(() => NO_CHILDREN);
  const perShape = level.children.map((shape, i) => groupChildren(parents, shape, lists[i] ?? []));
  return parents.map((_, i) => perShape.map(groups => groups[i] ?? []));
}

/** Returns the child rows of each parent row, in the order in which they arrived. */
export function groupChildren(
  parents: readonly Row[],
  shape: ChildShape,
  rows: readonly ChildRow[],
): readonly (readonly ChildRow[])[] {
  const { on, of } = shape.each.from;
  const pairs = on.map(({ theirs, ours, fold }) => {
    const [left, right] = canonicalPair(theirs.type, ours.type);
    return [fold ? inUpperCase(left) : left, right] as const;
  });
  const theirs = pairs.map(([left]) => left);
  const ours = pairs.map(([, right]) => right);
  const groups = new Map<string, ChildRow[]>();
  for (const child of rows) {
    const key = keyOf(child.row, shape.ownPositions, theirs);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(child);
    else groups.set(key, [child]);
  }
  const ofKey = (row: Row, positions: readonly number[]): readonly ChildRow[] => {
    const key = keyOf(row, positions, ours);
    return (key === undefined ? undefined : groups.get(key)) ?? [];
  };
  if (!of) return parents.map(parent => ofKey(parent, shape.parentPositions));
  // Collects the rows of all pieces of a parent, each once; the writer finds out which rows belong to which piece.
  const [at = 0] = shape.parentPositions;
  const each = on.map((_, i) => i);
  return parents.map(parent => [...new Set(pieceKeys(parent[at] ?? null, of, on).flatMap(key => ofKey(key, each)))]);
}

/** Returns the key of a row; undefined if a column is NULL, which joins nothing. */
function keyOf(row: Row, positions: readonly number[], canonical: readonly Canonical[]): string | undefined {
  let key = '';
  for (const [i, position] of positions.entries()) {
    const text = canonical[i]?.(row[position] ?? null) ?? null;
    if (text === null) return undefined;
    key += `${text.length}:${text}`;
  }
  return key;
}
