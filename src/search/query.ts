/**
 * Defines a search as the planner sees it: every value typed, every parameter resolved to its definition. Made by
 * parse.ts.
 * https://hl7.org/fhir/R4/search.html
 */

import type { Criterion } from '../mapping/criterion.ts';
import type { Issue } from '../outcome.ts';
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { Cursor } from './cursor.ts';

/** Names and values of a query string, decoded, in their order. */
export type Parameters = readonly (readonly [name: string, value: string])[];

export interface SearchQuery extends TypeQuestion, AnswerShape {}

/** A search over several types. Its matches are one list, type by type unless sorted. */
export interface SystemQuery extends AnswerShape {
  readonly questions: readonly TypeQuestion[];
}

export interface TypeQuestion {
  readonly type: string;
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** Each of several types has its own parameters; codes and directions are equal. */
  readonly sort: readonly SortKey[];
}

/** Everything of a search except which resources match. */
export interface AnswerShape {
  /** Path of the links after the base: `Patient`, `` for a search over types, `Patient/1/$everything`. */
  readonly place: string;
  readonly includes: readonly Include[];
  readonly revincludes: readonly Include[];
  /** Matches per page; 0 asks for the total alone. */
  readonly count: number;
  readonly total: 'none' | 'estimate' | 'accurate';
  readonly selection: Selection;
  readonly cursor: Cursor | undefined;
  /** Ignored parameters (lenient handling), as issues for the Bundle. */
  readonly warnings: readonly Issue[];
  /** Parameters that were understood, for the self link, with names and values as received. */
  readonly applied: Parameters;
  /** Format of the answer, for all links. HTTP reads it, and pages of one search may have different formats. */
  readonly written: Parameters;
  /** What page links are bound to besides the cursor: caller, place, and the understood parameters. */
  readonly binding: string;
}

/** The wanted elements of the resources. */
export type Selection =
  | { readonly kind: 'all' }
  /** Names of top-level elements. A choice is named with or without its type (`value`, `valueQuantity`). */
  | { readonly kind: 'elements'; readonly names: readonly string[] }
  /**
   * `true`: summary elements; `text`: narrative, id, meta and mandatory elements; `data`: all but the narrative.
   * Elements in `names` are added whole.
   */
  | { readonly kind: 'summary'; readonly mode: 'true' | 'text' | 'data'; readonly names?: readonly string[] };

export type Filter =
  /** Some value matches; with `not`, none does. */
  | {
      readonly kind: 'match';
      readonly parameter: SearchParameter;
      readonly modifier: Modifier | undefined;
      readonly values: readonly TypedValue[];
    }
  | { readonly kind: 'missing'; readonly parameter: SearchParameter; readonly missing: boolean }
  /** A reference leads to a resource of one of these types that passes the filter. */
  | { readonly kind: 'chain'; readonly parameter: SearchParameter; readonly to: readonly ChainTarget[] }
  /** Some resource of that type refers here by that parameter and passes the filter. */
  | { readonly kind: 'has'; readonly type: string; readonly parameter: SearchParameter; readonly filter: Filter }
  /** The `number` of the mapping. Only parts of this server use it, not requests. */
  | { readonly kind: 'number'; readonly number: string }
  /** In the compartment of a patient; resources of no patient are in none. Only parts of this server use it. */
  | { readonly kind: 'compartment'; readonly id: string };

export interface ChainTarget {
  readonly type: string;
  readonly filter: Filter;
}

/** `in`, `not-in`, and above and below of codes are replaced by their values while parsing. */
export const MODIFIERS = [
  'not',
  'text',
  'exact',
  'contains',
  'below',
  'above',
  'in',
  'not-in',
  'of-type',
  'identifier',
] as const;

export type Modifier = (typeof MODIFIERS)[number];

export type Prefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap';

/** `system` undefined: any; empty: none. `code` undefined: any code of the system. */
export interface TokenValue {
  readonly kind: 'token';
  readonly system: string | undefined;
  readonly code: string | undefined;
  /** For an element without a system of its own, whose codes have no case. */
  readonly anyCase?: true;
}

export type TypedValue =
  | TokenValue
  /** A coding of an Identifier's type, and its value. */
  | { readonly kind: 'typed-identifier'; readonly type: TokenValue; readonly value: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'uri'; readonly uri: string }
  /** The instants [low, high) that the written date stands for, milliseconds since the epoch. */
  | { readonly kind: 'date'; readonly prefix: Prefix; readonly low: number; readonly high: number }
  | NumberValue
  | {
      readonly kind: 'quantity';
      readonly number: NumberValue;
      readonly system: string | undefined;
      readonly code: string | undefined;
    }
  /** A logical id, with its type if it was written; or an absolute URL of another server. */
  | { readonly kind: 'reference'; readonly type: string | undefined; readonly id: string }
  | { readonly kind: 'foreign-reference'; readonly url: string }
  | { readonly kind: 'composite'; readonly parts: readonly TypedValue[] }
  /** Not read from requests: parts of this server use it in their own filters. */
  | Extract<Criterion, { kind: 'digits' }>;

/** Decimals as text, so that nothing is rounded: the number, and the interval [low, high) of its written precision. */
export interface NumberValue {
  readonly kind: 'number';
  readonly prefix: Prefix;
  readonly value: string;
  readonly low: string;
  readonly high: string;
}

export interface SortKey {
  readonly parameter: SearchParameter;
  readonly descending: boolean;
}

/** `_include=source:parameter:target`. */
export interface Include {
  readonly source: string;
  /** `*`: every parameter of type reference. Undefined: every reference, with or without a parameter for it. */
  readonly parameter: SearchParameter | '*' | undefined;
  readonly target: string | undefined;
  readonly iterate: boolean;
}
