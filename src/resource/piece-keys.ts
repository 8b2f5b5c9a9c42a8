/**
 * Rows that hang on the pieces of a separated column (R4 within R5): which keys a raw value asks for, and which rows are of a
 * piece. In: child rows of a mapping, raw values, the parts of a piece. Out: keys in the order of `on`, after text steps and in
 * upper case where the join has no case; the rows of one piece.
 */
import type { ChildRows, JoinColumn, Pieces } from '../mapping/model.ts';
import type { SqlValue } from '../sql/expression.ts';
import { piecesOf } from './pieces.ts';
import { canonicalPair } from './raw.ts';
import type { ChildRow } from './rows.ts';
import type { ChildShape } from './shape.ts';

/** The keys of all pieces of a value; null where a text step leaves nothing, which joins nothing. */
export function pieceKeys(
  raw: SqlValue,
  { by, between, parts }: Pieces,
  { on }: ChildRows,
): readonly (readonly SqlValue[])[] {
  const at = on.map(({ ours }) => parts.indexOf(ours.column));
  return piecesOf(raw, by, between).map(piece => on.map((pair, i) => joinedPart(piece[at[i] ?? 0] ?? null, pair)));
}

/** Of the rows of all pieces those of one, given its parts in the order of `on`. */
export function rowsOfPiece({
  each: { from },
  ownPositions,
}: ChildShape): (rows: readonly ChildRow[], parts: readonly SqlValue[]) => readonly ChildRow[] {
  const pairs = from.on.map(({ theirs, ours }) => canonicalPair(theirs.type, ours.type));
  return (rows, parts) => {
    const wanted = from.on.map((pair, i) => pairs[i]?.[1](joinedPart(parts[i] ?? null, pair)) ?? null);
    if (wanted.includes(null)) return [];
    return rows.filter(({ row }) =>
      from.on.every((pair, i) => inCase(pairs[i]?.[0](row[ownPositions[i] ?? 0] ?? null) ?? null, pair) === wanted[i]),
    );
  };
}

/** Our side of the join. */
function joinedPart(part: SqlValue, pair: JoinColumn): SqlValue {
  let text: string | undefined = typeof part === 'string' ? part : undefined;
  for (const step of pair.steps ?? []) text = text === undefined ? undefined : step.apply(text);
  return inCase(text ?? null, pair);
}

/** ASCII letters have case where the join says so. */
export function inCase(text: string | null, { fold }: JoinColumn): string | null {
  return fold && text !== null ? text.replace(/[a-z]+/g, letters => letters.toUpperCase()) : text;
}
