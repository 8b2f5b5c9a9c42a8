/**
 * Defines the JSON between the page of the workbench and its server. Contains only types, because both the browser and
 * Node read it.
 */

export interface WirePlace {
  readonly file: string;
  /** Lines and columns count from 1. */
  readonly line: number;
  readonly column: number;
}

export interface WireFile {
  /** Relative to the folder of the pack. */
  readonly path: string;
  readonly text: string;
  /** Hash of the text on the disk. */
  readonly hash: string;
  /** True if it belongs to a pack below, so that it is read-only. */
  readonly fixed: boolean;
}

/** Hashes of the files on the disk, by path. */
export interface WireHashes {
  readonly hashes: Readonly<Record<string, string>>;
}

/** All data for the start of the page. */
export interface WirePack {
  readonly folder: string;
  readonly database: string;
  readonly files: readonly WireFile[];
}

/** Unsaved texts by path. */
export type Unsaved = Readonly<Record<string, string>>;

export interface WireProblem {
  readonly severity: 'error' | 'warning' | 'notice';
  readonly place: WirePlace;
  /** The whole message, without the place. */
  readonly text: string;
  /** The text at this place, and its likely correction. */
  readonly fix?: { readonly found: string; readonly suggestion: string };
}

export interface WireMapping {
  readonly name: string;
  readonly type: string;
  readonly place: WirePlace;
  readonly table: string;
  readonly key: readonly string[];
}

export interface WireCheck {
  readonly problems: readonly WireProblem[];
  /** Undefined if the pack has errors. */
  readonly mappings: readonly WireMapping[] | undefined;
}

/** How an element can be searched, at the place that gives it a value. */
export interface WireVerdict {
  readonly type: string;
  /** Such as `name.family`. */
  readonly element: string;
  readonly line: number;
  /** The parameters that lead to it: compared as stored, computed for each row, or not offered. */
  readonly searches: readonly { readonly code: string; readonly how: 'offered' | 'computed' | 'none' }[];
  /** Columns without a leading index; undefined if no search compares any. */
  readonly withoutIndex?: readonly string[] | undefined;
}

/** Verdicts of one file, in its order. */
export interface WireVerdicts {
  /** Undefined if the pack has errors. */
  readonly verdicts: readonly WireVerdict[] | undefined;
}

/** A completion at the cursor. */
export interface WireOption {
  readonly label: string;
  readonly kind: 'keyword' | 'element' | 'column' | 'table' | 'codec' | 'code map' | 'mapping' | 'system' | 'value';
  /** Shown beside it: a cardinality and type, or a declared type. */
  readonly detail?: string;
  /** Its meaning, in words. */
  readonly info?: string;
  /** True for a key of a map, which is followed by a colon. */
  readonly key?: boolean;
  /** True if it goes on the next line, indented. */
  readonly opens?: boolean;
  /** Higher values come first. */
  readonly boost?: number;
}

export interface WireCompletion {
  /** Offset of the word that an option replaces. */
  readonly from: number;
  readonly options: readonly WireOption[];
  /** True if not all options are listed, so that further typing must ask again. */
  readonly isCut: boolean;
}

/** The initial text of a new file, and the position of the next word. */
export interface WireBeginning {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** A column of a previewed row. */
export interface WireColumn {
  readonly table: string;
  readonly column: string;
  readonly declared: string;
  /** Null for NULL; undefined if the database computes it. */
  readonly stored: string | null | undefined;
  /** Paths of its elements. */
  readonly elements: readonly string[];
}

export interface WireElement {
  /** Such as `name[0].family`. */
  readonly path: string;
  /** Such as `PERSON.SEX via code map sex.code`. */
  readonly lineage: string;
  readonly sources: readonly { readonly table: string; readonly column: string }[];
  readonly place: WirePlace;
  /** The row of a code map that gave it. */
  readonly codeRow: WirePlace | undefined;
}

export interface WirePreview {
  readonly mapping: string;
  readonly type: string;
  /** Why the row is no resource. */
  readonly reason: string | undefined;
  readonly resource: unknown;
  readonly columns: readonly WireColumn[];
  readonly elements: readonly WireElement[];
  readonly issues: readonly {
    readonly severity: 'error' | 'warning';
    readonly message: string;
    readonly place: WirePlace;
  }[];
  /** True if the current texts have errors: this uses the last ones without. */
  readonly stale: boolean;
  /** The resource by the saved texts, if there are unsaved ones; null if there is none. */
  readonly before?: unknown;
}

/** What the resource of a row contributes to C-CDA documents. */
export interface WireCcda {
  /** The part of the header, as XML; only for a patient. */
  readonly header: string | undefined;
  readonly sections: readonly WireCcdaSection[];
  /** Why there is no section, and further remarks; one sentence each. */
  readonly notes: readonly string[];
}

export interface WireCcdaSection {
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  /** Lists of ccds.yaml that find the resource for this section, such as `problems`. */
  readonly lists: readonly string[];
  /** Titles of the documents that contain the section. */
  readonly topics: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly entries: number;
  /** The whole section, indented. */
  readonly xml: string;
}

/** The kind of rows to find in the table. */
export type WireWish = 'any' | 'empty' | 'long' | 'strange';

export interface WireRows {
  readonly rows: readonly { readonly key: readonly string[]; readonly note: string }[];
}

/** The message of a failed request, for the user. */
export interface WireError {
  readonly error: string;
}
