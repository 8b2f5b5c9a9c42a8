/** Defines the JSON between the view *Search* and the server. Types only. */

export interface WireParameter {
  readonly code: string;
  /** Such as `token`, `date`, `reference`. */
  readonly type: string;
  readonly modifiers: readonly string[];
  /** Target types of a reference. */
  readonly targets: readonly string[];
  readonly sortable: boolean;
}

/** The types that can be searched, by the current texts or the last ones without errors. */
export interface WireTypes {
  readonly types: readonly string[];
  readonly stale: boolean;
}

/** Parameters of one type. */
export interface WireParameters {
  readonly parameters: readonly WireParameter[];
}

export interface WireSearchStatement {
  /** Such as `rows of …`, `keys of …`. */
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
  /** CREATE INDEX statement. */
  readonly statement: string;
  /** The parts of this search that it serves. */
  readonly serves: readonly string[];
  /** An existing index, and why it does not serve. */
  readonly instead: string | undefined;
  /**
   * Lines of plans that would change; empty if the engine would not use the index; undefined if it gives no
   * information.
   */
  readonly effects:
    | readonly { readonly purpose: string; readonly before: readonly string[]; readonly after: readonly string[] }[]
    | undefined;
}

export interface WireSearch {
  /** Problems of the search, and what was left out. */
  readonly issues: readonly { readonly severity: 'error' | 'warning'; readonly text: string }[];
  /** FHIR JSON; undefined if the search was refused or took too long. */
  readonly bundle: unknown;
  /** Milliseconds until the Bundle was complete. */
  readonly milliseconds: number;
  /** Why there is no Bundle although the search is valid. */
  readonly failed: string | undefined;
  /** The typed query, in words. */
  readonly query: readonly string[];
  readonly mappings: readonly string[];
  readonly engine: string;
  readonly statements: readonly WireSearchStatement[];
  readonly advice: readonly WireAdvice[];
  /** False if missing indexes were not determined, because the pack is very large. */
  readonly isAdvised: boolean;
  /** Lines of plans that scan a whole table; only for a search with conditions. */
  readonly scans: readonly string[];
  /** Texts that are searched by word, and the command that makes an index for them. */
  readonly words: readonly string[];
  /**
   * Searches such as `Patient?name` whose values are computed before they are compared, so that no plain index serves.
   */
  readonly computed: readonly string[];
  readonly stale: boolean;
}

/** The row that makes a resource. */
export interface WireRow {
  readonly mapping: string;
  readonly key: readonly string[];
}
