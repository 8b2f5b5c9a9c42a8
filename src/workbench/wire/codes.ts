/**
 * Defines the JSON between the view *Codes* and the server. A system is written as in the pack: an alias or a URI;
 * blank means the map's.
 */
import type { WirePlace } from './mapping.ts';

export interface WireCodeMaps {
  /** Undefined if pack.yaml or a file of code maps cannot be read. */
  readonly maps: readonly WireCodeMap[] | undefined;
  /** Aliases of pack.yaml, offered as completions for a system. */
  readonly systems: readonly string[];
}

export interface WireCodeMap {
  readonly name: string;
  readonly place: WirePlace;
  /** `table`: the rows are in a database table, and cannot be changed here. */
  readonly kind: 'rows' | 'table';
  /** True if it belongs to a pack below, so that it is read-only. */
  readonly fixed: boolean;
  readonly rows: number;
  readonly system: string;
  /** True if keys ignore case. */
  readonly fold: boolean;
  /** Columns that it is applied to: `PERSON.SEX`. */
  readonly readers: readonly string[];
}

export interface WireCodeRow {
  readonly raw: string;
  /** `absent` for a known value that means "none". */
  readonly code: string;
  readonly display: string;
  readonly system: string;
  readonly place: WirePlace;
}

export interface WireCodeRows {
  readonly rows: readonly WireCodeRow[];
  /** Total number of rows. */
  readonly total: number;
}

/** Number of values without a row for each map. `late`: maps that were not counted in time. */
export interface WireUnmapped {
  readonly maps: readonly { readonly name: string; readonly values: number; readonly rows: number }[];
  readonly late: readonly string[];
}

export interface WireHeld {
  readonly columns: readonly WireHeldColumn[];
  /** True if the time ended before all columns were counted. */
  readonly late: boolean;
}

export interface WireHeldColumn {
  readonly table: string;
  readonly column: string;
  readonly place: WirePlace;
  /** True if the column holds the keys of the map as they are, without steps before the map. */
  readonly isCode: boolean;
  /** True if an `else` or another alternative handles values that the map does not have. */
  readonly hasElse: boolean;
  /** The effect of the map's own `else`, in words. */
  readonly ownElse: string | undefined;
  /** Exact totals of values without a row; at most 1000 are listed. */
  readonly total: { readonly values: number; readonly rows: number };
  readonly unknown: readonly WireUnknown[];
  readonly known: readonly { readonly value: string; readonly rows: number }[];
}

export interface WireUnknown {
  readonly value: string;
  readonly rows: number;
  readonly suggestions: readonly WireSuggestion[];
}

export interface WireSuggestion {
  readonly code: string;
  readonly display: string;
  readonly system: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly reason: string;
}

/** New texts of files, and the number of changed rows. */
export interface WireCodeTexts {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  readonly changed: number;
  /** Problems of an imported list, by line; if there are any, nothing changes. */
  readonly problems: readonly string[];
}

/** A new code map made from a list. */
export interface WireNewMap {
  /** Undefined if there are problems. */
  readonly map:
    | { readonly name: string; readonly path: string; readonly text: string; readonly rows: number }
    | undefined;
  readonly problems: readonly string[];
}

export interface WireCsv {
  readonly name: string;
  readonly text: string;
}
