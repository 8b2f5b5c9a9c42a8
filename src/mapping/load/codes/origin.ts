/**
 * Remembers for `check` which code maps parts of a mapping were resolved from, because the model does not contain it.
 * Entries live as long as the parts.
 */
import type { Expression, Predicate } from '../../../sql/expression.ts';
import type { Unmapped } from '../../codecs/code-map.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { ChildRows, Lookup } from '../../model.ts';

/** The origin of a codec that reads a code map. */
export interface CodeMapOrigin {
  readonly name: string;
  /** True if the column holds only the code: no text step comes before the map. */
  readonly isWhole: boolean;
  /** Tests that the map has a row for the raw value, even if the row says `absent`. */
  readonly known: (column: Expression) => Predicate;
  /** What `else` of the map makes of other values, in words. */
  readonly ownElse: string | undefined;
}

const codecs = new WeakMap<Codec, CodeMapOrigin>();
const lookups = new WeakMap<Lookup, Pick<CodeMapOrigin, 'name' | 'ownElse'>>();

export function rememberCodec(codec: Codec, origin: CodeMapOrigin): void {
  codecs.set(codec, origin);
}

export function codeMapOf(codec: Codec): CodeMapOrigin | undefined {
  return codecs.get(codec);
}

/**
 * Describes `else`: `local codes of http://…`. Undefined if it gives nothing, or a code for all values, because then no
 * value lacks a code.
 */
export function elseInWords(unmapped: Unmapped): string | undefined {
  if (unmapped.kind === 'local') return `local codes of ${unmapped.system}`;
  return unmapped.kind === 'text' ? 'text alone' : undefined;
}

/** Records that a lookup finds the row of a code map in a table. */
export function rememberLookup(lookup: Lookup, codeMap: string, unmapped: Unmapped): void {
  lookups.set(lookup, { name: codeMap, ownElse: elseInWords(unmapped) });
}

const rowsOfMaps = new WeakMap<ChildRows, string>();

/** Records that child rows belong to a code map in a table. */
export function rememberRows(rows: ChildRows, codeMap: string): void {
  rowsOfMaps.set(rows, codeMap);
}

/** Returns the name of the code map in a table that child rows of pieces belong to. */
export function codeMapOfRows(rows: ChildRows): string | undefined {
  return rowsOfMaps.get(rows);
}

/** Returns the name of the code map in a table that a lookup reads. */
export function tableCodeMapOf(lookup: Lookup): string | undefined {
  return lookups.get(lookup)?.name;
}

/** Describes what `else` of that code map makes of values for which the lookup finds no row. */
export function tableElseOf(lookup: Lookup): string | undefined {
  return lookups.get(lookup)?.ownElse;
}
