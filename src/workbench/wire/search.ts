/**
 * What the view *Search* and the server tell each other, as JSON. Types alone.
 */

export interface WireParameter {
  readonly code: string;
  /** `token`, `date`, `reference` and so on. */
  readonly type: string;
  readonly modifiers: readonly string[];
  /** Of references: the types that they lead to. */
  readonly targets: readonly string[];
  readonly sortable: boolean;
}

/** The types that can be searched, by the texts as they are, or by the last without errors. */
export interface WireTypes {
  readonly types: readonly string[];
  readonly stale: boolean;
}

/** Of one type. */
export interface WireParameters {
  readonly parameters: readonly WireParameter[];
}

export interface WireSearchStatement {
  /** `rows of …`, `keys of …` */
  readonly purpose: string;
  readonly mappings: readonly string[];
  readonly sql: readonly string[];
  readonly parameters: readonly string[];
  /** The engine's plan. */
  readonly served: readonly string[];
}

export interface WireAdvice {
  readonly name: string;
  readonly table: string;
  /** CREATE INDEX */
  readonly statement: string;
  /** What of this search it is for. */
  readonly serves: readonly string[];
  /** An index that is there, and why it does not serve. */
  readonly instead: string | undefined;
  /** Lines of plans that would change; empty: the engine would not use it; undefined: the engine tells nothing. */
  readonly effects:
    | readonly { readonly purpose: string; readonly before: readonly string[]; readonly after: readonly string[] }[]
    | undefined;
}

export interface WireSearch {
  /** What is wrong with the search, and what was left out. */
  readonly issues: readonly { readonly severity: 'error' | 'warning'; readonly text: string }[];
  /** As FHIR JSON; undefined: it was refused, or took too long. */
  readonly bundle: unknown;
  /** Milliseconds until the Bundle was there. */
  readonly milliseconds: number;
  /** Why there is none, though the search is sound. */
  readonly failed: string | undefined;
  /** The typed query, in words. */
  readonly query: readonly string[];
  readonly mappings: readonly string[];
  readonly engine: string;
  readonly statements: readonly WireSearchStatement[];
  readonly advice: readonly WireAdvice[];
  /** It is known which indexes are missing; of a very large pack it is not. */
  readonly isAdvised: boolean;
  /** Of a search with conditions: lines of plans that look at all rows of a table. */
  readonly scans: readonly string[];
  /** Texts that are compared by their words, and which command makes an index of these. */
  readonly words: readonly string[];
  /** `Patient?name`: values that are worked out before they are compared, which no plain index serves. */
  readonly computed: readonly string[];
  readonly stale: boolean;
}

/** The row of a resource. */
export interface WireRow {
  readonly mapping: string;
  readonly key: readonly string[];
}
