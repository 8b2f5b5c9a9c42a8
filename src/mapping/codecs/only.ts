/**
 * Takes the one column of a codec that has exactly one.
 */
import type { Expression } from '../../sql/expression.ts';

/** The one column. Throws a RangeError if there is none: the loader counts columns before a codec is used. */
export function only(columns: readonly Expression[]): Expression {
  return column(columns, 0);
}

/** The column at a position. Throws a RangeError if it is missing. */
export function column(columns: readonly Expression[], at: number): Expression {
  const found = columns[at];
  if (!found) throw new RangeError(`a codec wants a column at position ${at + 1}`);
  return found;
}
