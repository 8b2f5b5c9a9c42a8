/**
 * What the page of the workbench and its server tell each other, as JSON. Types alone: the browser and Node both read
 * them.
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
  /** Of the text on the disk. */
  readonly hash: string;
  /** Of a pack that this one builds on: it is shown and not changed. */
  readonly fixed: boolean;
}

/** What the disk has, by path: the hashes of the files alone. */
export interface WireHashes {
  readonly hashes: Readonly<Record<string, string>>;
}

/** All that the page begins with. */
export interface WirePack {
  readonly folder: string;
  readonly database: string;
  readonly files: readonly WireFile[];
}

/** Texts that are not saved yet, by path. */
export type Unsaved = Readonly<Record<string, string>>;

export interface WireProblem {
  readonly severity: 'error' | 'warning' | 'notice';
  readonly place: WirePlace;
  /** In full, without the place. */
  readonly text: string;
  /** What stands there, and what is likely meant. */
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
  /** Undefined: the pack has errors. */
  readonly mappings: readonly WireMapping[] | undefined;
}

/** What the law says of an element where the file gives it a value. */
export interface WireVerdict {
  readonly type: string;
  /** `name.family` */
  readonly element: string;
  readonly line: number;
  /** The parameters that lead to it: compared as it is stored, computed for each row, or not offered. */
  readonly searches: readonly { readonly code: string; readonly how: 'offered' | 'computed' | 'none' }[];
  /** Columns that no index begins with; undefined: no search compares any. */
  readonly withoutIndex?: readonly string[] | undefined;
}

/** Of one file, in its order. */
export interface WireVerdicts {
  /** Undefined: the pack has errors. */
  readonly verdicts: readonly WireVerdict[] | undefined;
}

/** A word that may stand where the cursor is. */
export interface WireOption {
  readonly label: string;
  readonly kind: 'keyword' | 'element' | 'column' | 'table' | 'codec' | 'code map' | 'mapping' | 'system' | 'value';
  /** Beside it: a cardinality and type, a declared type. */
  readonly detail?: string;
  /** What it means, in words. */
  readonly info?: string;
  /** A key of a map: a colon goes behind it. */
  readonly key?: boolean;
  /** It stands on the next line, further indented. */
  readonly opens?: boolean;
  /** What is likelier comes first. */
  readonly boost?: number;
}

export interface WireCompletion {
  /** Where the word begins that an option replaces. */
  readonly from: number;
  readonly options: readonly WireOption[];
  /** More fit than are told: what is typed next has to be asked for again. */
  readonly isCut: boolean;
}

/** What a new file begins with, and where the next word goes. */
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
  /** Null: NULL. Undefined: the database works it out. */
  readonly stored: string | null | undefined;
  /** Paths of the elements that it makes. */
  readonly elements: readonly string[];
}

export interface WireElement {
  /** `name[0].family` */
  readonly path: string;
  /** `PERSON.SEX via code map sex.code` */
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
  /** The pack as it is written has errors: this is of the last text without. */
  readonly stale: boolean;
  /** What the saved texts make of the row, where others are not saved; null: nothing. */
  readonly before?: unknown;
}

/** What the resource of a row gives in C-CDA documents. */
export interface WireCcda {
  /** Of the header, as XML: of a patient alone. */
  readonly header: string | undefined;
  readonly sections: readonly WireCcdaSection[];
  /** Why there is no section, and what else is to be known; one sentence each. */
  readonly notes: readonly string[];
}

export interface WireCcdaSection {
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  /** Lists of ccds.yaml that find the resource for it: `problems`. */
  readonly lists: readonly string[];
  /** Titles of the documents that have the section. */
  readonly topics: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly entries: number;
  /** The whole section, indented. */
  readonly xml: string;
}

/** Which rows are looked for: some of the table, or those that a search finds. */
export type WireWish = 'any' | 'empty' | 'long' | 'strange';

export interface WireRows {
  readonly rows: readonly { readonly key: readonly string[]; readonly note: string }[];
}

/** An answer that is none: what is wrong, for a person. */
export interface WireError {
  readonly error: string;
}
