/**
 * A search as the planner sees it: every value typed, every parameter resolved to its definition. Made by parse.ts.
 * https://hl7.org/fhir/R4/search.html
 */

import type { Criterion } from '../mapping/criterion.ts';
import type { Issue } from '../outcome.ts';
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { Cursor } from './cursor.ts';

/** Names and values of a query string, decoded, in its order. */
export type Parameters = readonly (readonly [name: string, value: string])[];

export interface SearchQuery extends TypeQuestion, AnswerShape {}

/** What one search asks of several types; they are answered as one list of matches, type by type unless sorted. */
export interface SystemQuery extends AnswerShape {
  readonly questions: readonly TypeQuestion[];
}

export interface TypeQuestion {
  readonly type: string;
  /** All must hold. */
  readonly filters: readonly Filter[];
  /** Of several types each has its own parameters; codes and directions are the same. */
  readonly sort: readonly SortKey[];
}

/** Everything of a search but which resources match. */
export interface AnswerShape {
  /** What the links lead to, behind the base: `Patient`, `` for a search over types, `Patient/1/$everything`. */
  readonly place: string;
  readonly includes: readonly Include[];
  readonly revincludes: readonly Include[];
  /** Matches per page; 0 asks for the total alone. */
  readonly count: number;
  readonly total: 'none' | 'estimate' | 'accurate';
  readonly selection: Selection;
  readonly cursor: Cursor | undefined;
  /** Parameters that were ignored (lenient handling), as issues for the Bundle. */
  readonly warnings: readonly Issue[];
  /** What was understood, for the self link: names and values as they came. */
  readonly applied: Parameters;
  /**
   * How the answer is written, for all links: HTTP reads it, and a page may be written otherwise than the one before.
   */
  readonly written: Parameters;
  /** What page links are bound to beside the cursor: caller, place, and what was understood. */
  readonly binding: string;
}

/** Which elements of the resources are wanted. */
export type Selection =
  | { readonly kind: 'all' }
  /** Names of top-level elements; a choice by its base name (`value`) or with its type (`valueQuantity`). */
  | { readonly kind: 'elements'; readonly names: readonly string[] }
  /**
   * `true`: summary elements; `text`: narrative, id, meta and mandatory elements; `data`: all but the narrative. And
   * those that are named beside, whole.
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
  /** The `number` of the mapping. No request asks for it: parts of this server do. */
  | { readonly kind: 'number'; readonly number: string }
  /** In the compartment of a patient; what belongs to no patient is in none. Likewise. */
  | { readonly kind: 'compartment'; readonly id: string };

export interface ChainTarget {
  readonly type: string;
  readonly filter: Filter;
}

/** `in`, `not-in`, and above and below of codes are replaced while parsing, by what they stand for. */
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
  /** Of an element without a system of its own, whose codes have no case. */
  readonly anyCase?: true;
}

export type TypedValue =
  | TokenValue
  /** Of an Identifier: a coding of its type, and its value. */
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
  /** A logical id, its type where it was written; or an absolute URL of another server. */
  | { readonly kind: 'reference'; readonly type: string | undefined; readonly id: string }
  | { readonly kind: 'foreign-reference'; readonly url: string }
  | { readonly kind: 'composite'; readonly parts: readonly TypedValue[] }
  /** No text of a request is read as this: asked by parts of this server that search with filters of their own. */
  | Extract<Criterion, { kind: 'digits' }>;

/** Decimals as text, so that nothing is rounded: the number, and [low, high) that its written precision stands for. */
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
  /** `*`: every parameter of type reference; undefined: every reference, whether or not a parameter leads to it. */
  readonly parameter: SearchParameter | '*' | undefined;
  readonly target: string | undefined;
  readonly iterate: boolean;
}
