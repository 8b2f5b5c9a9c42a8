/**
 * Remembers what parts of a mapping were resolved from, for `check`; the model does not say it. Kept as long as the
 * parts.
 */
import type { Expression, Predicate } from '../../../sql/expression.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { ChildRows, Lookup } from '../../model.ts';

/** Of a codec that reads a code map. */
export interface CodeMapOrigin {
  readonly name: string;
  /** The column holds the code and nothing else: no text step comes before the map. */
  readonly isWhole: boolean;
  /** Holds where the map says what the raw value means, be it that it means no code. */
  readonly known: (column: Expression) => Predicate;
}

const codecs = new WeakMap<Codec, CodeMapOrigin>();
const lookups = new WeakMap<Lookup, string>();

export function rememberCodec(codec: Codec, origin: CodeMapOrigin): void {
  codecs.set(codec, origin);
}

export function codeMapOf(codec: Codec): CodeMapOrigin | undefined {
  return codecs.get(codec);
}

/** Keeps that a lookup finds the row of a code map in a table. */
export function rememberLookup(lookup: Lookup, codeMap: string): void {
  lookups.set(lookup, codeMap);
}

const rowsOfMaps = new WeakMap<ChildRows, string>();

/** Keeps that child rows are those of a code map in a table. */
export function rememberRows(rows: ChildRows, codeMap: string): void {
  rowsOfMaps.set(rows, codeMap);
}

/** The name of the code map in a table that child rows are of: those of pieces. */
export function codeMapOfRows(rows: ChildRows): string | undefined {
  return rowsOfMaps.get(rows);
}

/** The name of the code map in a table that a lookup finds the row of. */
export function tableCodeMapOf(lookup: Lookup): string | undefined {
  return lookups.get(lookup);
}
