/**
 * Generates the loop of an `each`, and finds what it iterates over. In: an EachNode; raw values, separators, child rows
 * of a mapping. Out: statements that run for each child row or piece; the pieces of a separated column with their
 * parts; the keys that a raw value looks up, in the order of `on`, after text steps, in upper case (`upperAscii`) if
 * the join ignores case; and the rows of a piece.
 */
import { memoized } from '../common/caches.ts';
import { trim, upperAscii } from '../mapping/codecs/text.ts';
import type { EachNode, JoinColumn, Pieces } from '../mapping/model.ts';
import { type PieceRows, rowsOfLookups } from '../mapping/piece-lookups.ts';
import type { SqlValue } from '../sql/expression.ts';
import { childrenIn, type Emission, rawCode } from './emission.ts';
import { type Canonical, canonicalPair } from './raw.ts';
import type { ChildRow } from './rows.ts';
import type { ChildShape } from './shape.ts';

/** Writes a loop over child rows or pieces; `body` writes its content. */
export function eachItem(node: EachNode, at: Emission, body: (inner: Emission) => void): void {
  const { source, frame } = at;
  const { from } = node;
  const item = source.fresh();
  if (from.kind === 'pieces') {
    const [by, between] = [JSON.stringify(from.by), JSON.stringify(from.between)];
    const pieces = `${source.bind(piecesOf)}(${rawCode(from.column, frame)}, ${by}, ${between})`;
    const parts = new Map(from.parts.map((part, i) => [part, `${item}[${i}]`]));
    source.block(`for (const ${item} of ${pieces})`, () =>
      withLookups(
        rowsOfLookups(from),
        { ...at, frame: { kind: 'pieces', alias: from.alias, parts, around: frame } },
        body,
      ),
    );
    return;
  }
  const { frame: above, index } = childrenIn(node, frame);
  const level = above.level.children[index];
  if (!level) return;
  const all = `${above.children}[${index}] ?? []`;
  const parts = from.on.map(({ ours }) => (from.of ? rawCode(ours, frame) : '')).join(', ');
  const rows = source.variable(from.of ? `${source.bind(rowsOfPiece(level))}(${all}, [${parts}])` : all, 'const');
  const count = source.fresh();
  source.block(`for (let ${count} = 0; ${count} < ${rows}.length; ${count}++)`, () => {
    const row = source.variable(`${rows}[${count}].row`, 'const');
    const children = source.variable(`${rows}[${count}].children`, 'const');
    body({ ...at, frame: { kind: 'row', level, lookups: from.scope.lookups, row, children, around: frame } });
  });
}

/**
 * Binds the rows that a piece looks up, or rows of NULLs in place of missing ones. Without a required row there is no
 * item.
 */
function withLookups(lookups: readonly PieceRows[], at: Emission, body: (inner: Emission) => void): void {
  const [first, ...further] = lookups;
  if (!first) {
    body(at);
    return;
  }
  const { source, frame } = at;
  const { from } = first.node;
  const { frame: above, index } = childrenIn(first.node, frame);
  const level = above.level.children[index];
  if (!level) return;
  const parts = from.on.map(({ ours }) => rawCode(ours, frame)).join(', ');
  const rows = `${source.bind(rowsOfPiece(level))}(${above.children}[${index}] ?? [], [${parts}])`;
  const found = source.variable(`${rows}[0] ?? ${source.bind(noRow(level))}`, 'const');
  const row = source.variable(`${found}.row`, 'const');
  const children = source.variable(`${found}.children`, 'const');
  const inner = { kind: 'row', level, lookups: from.scope.lookups, row, children, around: frame } as const;
  const rest = (): void => withLookups(further, { ...at, frame: inner }, body);
  if (first.required) source.when(`${found} !== ${source.bind(noRow(level))}`, rest);
  else rest();
}

/** Returns the keys of all pieces of a value. A part is null if a text step removes it, and then joins nothing. */
export function pieceKeys(
  raw: SqlValue,
  { by, between, parts }: Pieces,
  on: readonly JoinColumn[],
): readonly (readonly SqlValue[])[] {
  const at = on.map(({ ours }) => parts.indexOf(ours.column));
  return piecesOf(raw, by, between).map(piece => on.map((pair, i) => joinedPart(piece[at[i] ?? 0] ?? null, pair)));
}

/** Returns a filter that selects one piece's rows among those of all pieces, by its parts in the order of `on`. */
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

/** Returns the row for a lookup that finds none: NULL in each column; one per shape. */
export const noRow = memoized(({ columns }: ChildShape): ChildRow => ({ row: columns.map(() => null), children: [] }));

/** Applies text steps to our side of the join. */
function joinedPart(part: SqlValue, { steps = [], fold }: JoinColumn): SqlValue {
  let text: string | undefined = typeof part === 'string' ? part : undefined;
  for (const step of steps) text = text === undefined ? undefined : step.apply(text);
  return text === undefined ? null : fold ? upperAscii(text) : text;
}

/** Folds their side to upper case, for a join without case. */
export function inUpperCase(canonical: Canonical): Canonical {
  return raw => {
    const text = canonical(raw);
    return text === null ? null : upperAscii(text);
  };
}

/**
 * Splits a separated column. In: the raw value, the separator of pieces, the separators inside a piece. Out: the
 * trimmed parts of each piece. Leaves out pieces that are empty or lack a separator.
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

/** Splits at the first occurrence of each separator; the last part takes the rest. */
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
