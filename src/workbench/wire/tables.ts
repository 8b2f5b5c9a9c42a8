/**
 * What the view *Tables* and the server tell each other, as JSON. Types alone.
 */
import type { WirePlace } from './mapping.ts';

/** A table of the list. */
export interface WireTable {
  /** Names it in questions. */
  readonly id: string;
  /** With its schema where a statement has to name it. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Which of `columns` the pack reads, by their positions. */
  readonly mapped: readonly number[];
}

export interface WireTables {
  readonly tables: readonly WireTable[];
  readonly mapped: WireMapped;
}

/** Of which texts it is told what is mapped: these; the last without errors; or none, for there were always errors. */
export type WireMapped = 'current' | 'stale' | 'unknown';

export interface WireRows {
  readonly count: number;
  /** Counted; by the engine's statistics; or no more than these. */
  readonly kind: 'exact' | 'about' | 'most';
}

/** By the ids of tables; those that nobody knows without counting are left out. */
export interface WireSizes {
  readonly sizes: Readonly<Record<string, WireRows>>;
}

export interface WireForeignKey {
  readonly columns: readonly string[];
  /** The other table's id. */
  readonly table: string;
  readonly theirs: readonly string[];
}

export interface WireUse {
  readonly mapping: string;
  /** `name.family`; undefined: a key, a condition or a lookup. */
  readonly element: string | undefined;
  readonly place: WirePlace;
}

export interface WireTableColumn {
  readonly name: string;
  readonly declared: string;
  readonly nullable: boolean;
  readonly uses: readonly WireUse[];
}

/** What the schema and the pack say of a table. */
export interface WireDetail {
  readonly id: string;
  readonly name: string;
  readonly rows: WireRows | undefined;
  readonly key: readonly string[];
  readonly indexes: readonly { readonly name: string; readonly columns: readonly string[]; readonly unique: boolean }[];
  readonly foreignKeys: readonly WireForeignKey[];
  /** Keys of other tables that lead here: `table` is theirs, `columns` are theirs, too. */
  readonly referencedBy: readonly WireForeignKey[];
  readonly columns: readonly WireTableColumn[];
  readonly mapped: WireMapped;
}

export interface WireCounted {
  readonly what: string;
  readonly rows: number;
}

/** What the rows of a column show; docs/workbench.md says what each means. */
export interface WireColumnProfile {
  readonly values: number;
  readonly nulls: number;
  readonly blanks: number;
  readonly distinct: { readonly count: number; readonly atLeast: boolean };
  readonly length?: { readonly least: number; readonly most: number };
  readonly range?: { readonly least: string; readonly most: string };
  readonly forms: readonly WireCounted[];
  readonly frequent?: readonly WireCounted[];
  readonly sentinels: readonly WireCounted[];
  readonly impossible: readonly WireCounted[];
  readonly padded: number;
  readonly damaged: readonly WireCounted[];
}

export interface WireProfile {
  readonly rows: WireRows | undefined;
  /** Rows that were read. */
  readonly read: number;
  /** Where they stand; undefined: all were read. */
  readonly sample: string | undefined;
  /** The time was over first. */
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly columns: readonly {
    readonly name: string;
    /** Undefined: not read, and `why`. */
    readonly profile: WireColumnProfile | undefined;
    readonly why?: string;
  }[];
}

export interface WireLikelyKey {
  readonly column: string;
  /** The other table's id. */
  readonly table: string;
  readonly theirs: string;
  /** `name`: the names fit; `values`: all values are there, and in few other tables. */
  readonly by: 'name' | 'values';
  /** Different values that were looked for in the other table; 0: the column has none. */
  readonly sampled: number;
  /** Those that are keys of the other table. */
  readonly found: number;
}

export interface WireLikelyKeys {
  readonly keys: readonly WireLikelyKey[];
  /** The time budget ended before all were looked at. */
  readonly cut: boolean;
}
