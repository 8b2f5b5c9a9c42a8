/**
 * Remembers what parts of a mapping were resolved from, for `check`; the model does not say it. Kept as long as the
 * parts.
 */
import type { Expression, Predicate } from '../../../sql/expression.ts';
import type { Unmapped } from '../../codecs/code-map.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { ChildRows, Lookup } from '../../model.ts';

/** Of a codec that reads a code map. */
export interface CodeMapOrigin {
  readonly name: string;
  /** The column holds the code and nothing else: no text step comes before the map. */
  readonly isWhole: boolean;
  /** Holds where the map says what the raw value means, be it that it means no code. */
  readonly known: (column: Expression) => Predicate;
  /** What the `else` of the map makes of other values, in words. */
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
 * `local codes of http://…`; undefined: nothing, or a code that holds for all values and so leaves none without one.
 */
export function elseInWords(unmapped: Unmapped): string | undefined {
  if (unmapped.kind === 'local') return `local codes of ${unmapped.system}`;
  return unmapped.kind === 'text' ? 'text alone' : undefined;
}

/** Keeps that a lookup finds the row of a code map in a table. */
export function rememberLookup(lookup: Lookup, codeMap: string, unmapped: Unmapped): void {
  lookups.set(lookup, { name: codeMap, ownElse: elseInWords(unmapped) });
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
  return lookups.get(lookup)?.name;
}

/** What the `else` of that code map makes of values that the lookup finds no row for, in words. */
export function tableElseOf(lookup: Lookup): string | undefined {
  return lookups.get(lookup)?.ownElse;
}
