/**
 * Rows and the rows that hang on them. In: the rows of a page and, per child shape, the child rows of the whole page in
 * their order. Out: for each row its children. Keys compare as joins do: exactly, blind to trailing blanks.
 */
import type { JoinColumn } from '../mapping/model.ts';
import type { SqlValue } from '../sql/expression.ts';
import type { Row } from '../sql/plan.ts';
import { inCase, pieceKeys } from './piece-keys.ts';
import { canonicalPair } from './raw.ts';
import type { ChildShape, LevelShape } from './shape.ts';

/** Per child shape of a level, in its order, the child rows of one row. */
export type Children = readonly (readonly ChildRow[])[];

export interface ChildRow {
  readonly row: Row;
  readonly children: Children;
}

export const NO_CHILDREN: Children = [];

/** The children of each of `parents`, from one list of child rows per child shape of the level. */
export function childrenOf(
  parents: readonly Row[],
  level: LevelShape,
  lists: readonly (readonly ChildRow[])[],
): readonly Children[] {
  if (level.children.length === 0) return parents.map(() => NO_CHILDREN);
  const perShape = level.children.map((shape, i) => groupChildren(parents, shape, lists[i] ?? []));
  return parents.map((_, i) => perShape.map(groups => groups[i] ?? []));
}

/** For each parent row its child rows, in the order in which they arrived. */
export function groupChildren(
  parents: readonly Row[],
  shape: ChildShape,
  rows: readonly ChildRow[],
): readonly (readonly ChildRow[])[] {
  const { from } = shape.each;
  const pairs = from.on.map(on => canonicalPair(on.theirs.type, on.ours.type));
  const theirs = pairs.map(([left]) => left);
  const ours = pairs.map(([, right]) => right);
  const groups = new Map<string, ChildRow[]>();
  for (const child of rows) {
    const key = keyOf(
      shape.ownPositions.map((at, i) => theirs[i]?.(child.row[at] ?? null) ?? null),
      from.on,
    );
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(child);
    else groups.set(key, [child]);
  }
  const ofKey = (values: readonly SqlValue[]): readonly ChildRow[] => {
    const key = keyOf(
      values.map((value, i) => ours[i]?.(value) ?? null),
      from.on,
    );
    return (key === undefined ? undefined : groups.get(key)) ?? [];
  };
  const { of } = from;
  if (!of) return parents.map(parent => ofKey(shape.parentPositions.map(at => parent[at] ?? null)));
  // Of a parent the rows of all its pieces, each once: which are of which piece, the writer sees.
  const [at = 0] = shape.parentPositions;
  return parents.map(parent => [...new Set(pieceKeys(parent[at] ?? null, of, from).flatMap(ofKey))]);
}

/** Undefined where a column is NULL, which joins nothing. */
function keyOf(texts: readonly (string | null)[], on: readonly JoinColumn[]): string | undefined {
  let key = '';
  for (const [i, pair] of on.entries()) {
    const text = inCase(texts[i] ?? null, pair);
    if (text === null) return undefined;
    key += `${text.length}:${text}`;
  }
  return key;
}
