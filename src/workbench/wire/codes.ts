/**
 * What the view *Codes* and the server tell each other. A system is written as in the pack: an alias or an address;
 * blank: the map's.
 */
import type { WirePlace } from './mapping.ts';

export interface WireCodeMaps {
  /** Undefined: pack.yaml or a file of code maps cannot be read. */
  readonly maps: readonly WireCodeMap[] | undefined;
  /** Aliases of pack.yaml, offered where a system is typed. */
  readonly systems: readonly string[];
}

export interface WireCodeMap {
  readonly name: string;
  readonly place: WirePlace;
  /** `table`: its rows are those of a table, and are not changed here. */
  readonly kind: 'rows' | 'table';
  /** Of a pack below: it is shown only. */
  readonly fixed: boolean;
  readonly rows: number;
  readonly system: string;
  /** Keys without case. */
  readonly fold: boolean;
  /** Columns that read it: `PERSON.SEX`. */
  readonly readers: readonly string[];
}

export interface WireCodeRow {
  readonly raw: string;
  /** `absent`: it is known and means none. */
  readonly code: string;
  readonly display: string;
  readonly system: string;
  readonly place: WirePlace;
}

export interface WireCodeRows {
  readonly rows: readonly WireCodeRow[];
  /** All that there are. */
  readonly total: number;
}

/** How many values of each map have no row; `late`: maps that the time did not suffice for. */
export interface WireUnmapped {
  readonly maps: readonly { readonly name: string; readonly values: number; readonly rows: number }[];
  readonly late: readonly string[];
}

export interface WireHeld {
  readonly columns: readonly WireHeldColumn[];
  /** The time budget ended before all columns were counted. */
  readonly late: boolean;
}

export interface WireHeldColumn {
  readonly table: string;
  readonly column: string;
  readonly place: WirePlace;
  /** Steps stand before the map: what the column holds is not what the map looks up. */
  readonly isCode: boolean;
  /** An `else` or another alternative stands in for what the map does not know. */
  readonly hasElse: boolean;
  /** What the `else` of the map itself makes of them, in words. */
  readonly ownElse: string | undefined;
  /** Without a row, exactly; at most 1000 are listed. */
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

/** New texts of files, and how many rows changed. */
export interface WireCodeTexts {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  readonly changed: number;
  /** What is wrong with an imported list, by its lines: then nothing changes. */
  readonly problems: readonly string[];
}

/** A list as the file of a new code map. */
export interface WireNewMap {
  /** Undefined: it has problems. */
  readonly map:
    | { readonly name: string; readonly path: string; readonly text: string; readonly rows: number }
    | undefined;
  readonly problems: readonly string[];
}

export interface WireCsv {
  readonly name: string;
  readonly text: string;
}
