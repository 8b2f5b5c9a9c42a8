/**
 * Splits a separated column. In: the raw value, the separator of pieces, the separators inside a piece. Out: the
 * trimmed parts of each piece. A piece that is empty or lacks a separator is left out.
 */
import type { SqlValue } from '../sql/expression.ts';

export function piecesOf(raw: SqlValue, by: string, between: readonly string[]): readonly (readonly string[])[] {
  if (typeof raw !== 'string') return [];
  const pieces: (readonly string[])[] = [];
  for (const piece of raw.split(by)) {
    const text = trimmed(piece);
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
    parts.push(trimmed(rest.slice(0, at)));
    rest = rest.slice(at + separator.length);
  }
  parts.push(trimmed(rest));
  return parts;
}

/** Blanks, tabs and line ends, as SQL's `trim` here; not every space that JavaScript knows. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}
