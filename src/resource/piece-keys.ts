/**
 * Splits a separated column, and joins child rows to its pieces. In: raw values, separators, child rows of a mapping.
 * Out: the pieces with their parts; the keys that a raw value asks for, in the order of `on`, after text steps, in
 * upperAscii case if the join ignores case; and the rows of a piece.
 */
import { trim, upperAscii } from '../mapping/codecs/text.ts';
import type { JoinColumn, Pieces } from '../mapping/model.ts';
import type { SqlValue } from '../sql/expression.ts';
import { type Canonical, canonicalPair } from './raw.ts';
import type { ChildRow } from './rows.ts';
import type { ChildShape } from './shape.ts';

/** The keys of all pieces of a value; null where a text step leaves nothing, which joins nothing. */
export function pieceKeys(
  raw: SqlValue,
  { by, between, parts }: Pieces,
  on: readonly JoinColumn[],
): readonly (readonly SqlValue[])[] {
  const at = on.map(({ ours }) => parts.indexOf(ours.column));
  return piecesOf(raw, by, between).map(piece => on.map((pair, i) => joinedPart(piece[at[i] ?? 0] ?? null, pair)));
}

/** Of the rows of all pieces those of one, given its parts in the order of `on`. */
export function rowsOfPiece({
  each: { from },
  ownPositions,
}: ChildShape): (rows: readonly ChildRow[], parts: readonly SqlValue[]) => readonly ChildRow[] {
  const pairs = from.on.map(({ theirs, ours, fold }) => {
    const [left, right] = canonicalPair(theirs.type, ours.type);
    return { theirs: fold ? inUpperCase(left) : left, ours: right };
  });
  return (rows, parts) => {
    const wanted = from.on.map((pair, i) => pairs[i]?.ours(joinedPart(parts[i] ?? null, pair)) ?? null);
    if (wanted.includes(null)) return [];
    return rows.filter(({ row }) =>
      pairs.every(({ theirs }, i) => theirs(row[ownPositions[i] ?? 0] ?? null) === wanted[i]),
    );
  };
}

const absent = new WeakMap<ChildShape, ChildRow>();

/** What stands in place of the row that a lookup does not find: NULL in each column; one for each shape. */
export function noRow(shape: ChildShape): ChildRow {
  const known = absent.get(shape);
  if (known) return known;
  const made: ChildRow = { row: shape.columns.map(() => null), children: [] };
  absent.set(shape, made);
  return made;
}

/** Our side of the join. */
function joinedPart(part: SqlValue, { steps = [], fold }: JoinColumn): SqlValue {
  let text: string | undefined = typeof part === 'string' ? part : undefined;
  for (const step of steps) text = text === undefined ? undefined : step.apply(text);
  return text === undefined ? null : fold ? upperAscii(text) : text;
}

/** Theirs, where the join has no case. */
export function inUpperCase(canonical: Canonical): Canonical {
  return raw => {
    const text = canonical(raw);
    return text === null ? null : upperAscii(text);
  };
}

/**
 * Splits a separated column. In: the raw value, the separator of pieces, the separators inside a piece. Out: the
 * trimmed parts of each piece. A piece that is empty or lacks a separator is left out.
 */
export function piecesOf(raw: SqlValue, by: string, between: readonly string[]): readonly (readonly string[])[] {
  if (typeof raw !== 'string') return [];
  const pieces: (readonly string[])[] = [];
  for (const piece of raw.split(by)) {
    const text = trim(piece);
    const parts = text === '' ? undefined : partsOf(text, between);
    if (parts) pieces.push(parts);
  }
  return pieces;
}

/** Each separator at its first place; the last part takes the rest. */
function partsOf(piece: string, between: readonly string[]): readonly string[] | undefined {
  const parts: string[] = [];
  let rest = piece;
  for (const separator of between) {
    const at = rest.indexOf(separator);
    if (at < 0) return undefined;
    parts.push(trim(rest.slice(0, at)));
    rest = rest.slice(at + separator.length);
  }
  parts.push(trim(rest));
  return parts;
}
