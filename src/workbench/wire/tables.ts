/** Defines the JSON between the view *Tables* and the server. Types only. */
import type { WirePlace } from './mapping.ts';

/** A table of the list. */
export interface WireTable {
  /** Identifies it in requests. */
  readonly id: string;
  /** With the schema if a statement must name it. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Indexes of the `columns` that the pack reads. */
  readonly mapped: readonly number[];
}

export interface WireTables {
  readonly tables: readonly WireTable[];
  readonly mapped: WireMapped;
}

/**
 * The texts that `mapped` is about: the current ones; the last ones without errors; or none, because there were always
 * errors.
 */
export type WireMapped = 'current' | 'stale' | 'unknown';

export interface WireRows {
  readonly count: number;
  /** Counted; estimated by the engine's statistics; or an upper limit. */
  readonly kind: 'exact' | 'about' | 'most';
}

/** By id of the table; without those that would have to be counted. */
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
  /** Such as `name.family`; undefined for a key, a condition or a lookup. */
  readonly element: string | undefined;
  readonly place: WirePlace;
}

export interface WireTableColumn {
  readonly name: string;
  readonly declared: string;
  readonly nullable: boolean;
  readonly uses: readonly WireUse[];
}

/** What schema and pack say about a table. */
export interface WireDetail {
  readonly id: string;
  readonly name: string;
  readonly rows: WireRows | undefined;
  readonly key: readonly string[];
  readonly indexes: readonly { readonly name: string; readonly columns: readonly string[]; readonly unique: boolean }[];
  readonly foreignKeys: readonly WireForeignKey[];
  /** Foreign keys of other tables to this one: `table` and `columns` are those of the other table. */
  readonly referencedBy: readonly WireForeignKey[];
  readonly columns: readonly WireTableColumn[];
  readonly mapped: WireMapped;
}

export interface WireCounted {
  readonly what: string;
  readonly rows: number;
}

/** The findings in the rows of a column; docs/workbench.md explains each. */
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
  /** Number of rows that were read. */
  readonly read: number;
  /** Which rows were read; undefined if all were. */
  readonly sample: string | undefined;
  /** True if the time ended before the profile was complete. */
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly columns: readonly {
    readonly name: string;
    /** Undefined if not read; `why` gives the reason. */
    readonly profile: WireColumnProfile | undefined;
    readonly why?: string;
  }[];
}

export interface WireLikelyKey {
  readonly column: string;
  /** The other table's id. */
  readonly table: string;
  readonly theirs: string;
  /** `name`: the names fit; `values`: the table has all values, and few other tables do. */
  readonly by: 'name' | 'values';
  /** Number of distinct values that were looked up in the other table; 0 if the column has none. */
  readonly sampled: number;
  /** How many of them are keys of the other table. */
  readonly found: number;
}

export interface WireLikelyKeys {
  readonly keys: readonly WireLikelyKey[];
  /** True if the time ended before all columns were examined. */
  readonly cut: boolean;
}
