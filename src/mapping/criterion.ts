/**
 * What a search asks of one primitive value. Searches on data types (CodeableConcept, Period, Quantity …) are taken
 * apart into these criteria by src/search/types.
 * https://hl7.org/fhir/R4/search.html
 */
import type { Predicate } from '../sql/expression.ts';
import type { Condition } from './model.ts';

export type Criterion =
  /**
   * Exactly this text (code, id, uri, a boolean as `true` or `false`); with `anyCase` in any case of its ASCII letters.
   */
  | { readonly kind: 'exact'; readonly text: string; readonly anyCase?: AnyCase }
  /**
   * String search: case and accents folded unless `exact`. `word`: a word begins with this one
   * (src/sql/shared-functions.ts).
   */
  | { readonly kind: 'string'; readonly mode: StringMode; readonly text: string }
  | { readonly kind: 'uri-below'; readonly text: string }
  /** The value's interval in time satisfies one of these conjunctions. */
  | { readonly kind: 'date'; readonly any: readonly (readonly DateEdge[])[] }
  /** The value (a point, or an interval for `<5`) satisfies one of these conjunctions. */
  | { readonly kind: 'number'; readonly any: readonly (readonly NumberEdge[])[] }
  /** The digits of the value (0 to 9, all else left out) pass one of these tests. No FHIR search asks so. */
  | { readonly kind: 'digits'; readonly any: readonly DigitsTest[] };

/** `listed`: one of many texts, so that the statement has no room for several spellings of each. */
export type AnyCase = 'alone' | 'listed';

export type StringMode = 'starts' | 'exact' | 'contains' | 'word';

/** Digits compared with those of a text. */
export interface DigitsTest {
  /** At least one, 0 to 9 only; else nothing passes. */
  readonly digits: string;
  /** `extended`: the text's begin with them, and it has an x or # before an extension. */
  readonly where: 'whole' | 'end' | 'extended';
}

/**
 * The start (inclusive) or end (exclusive) of the value's interval against an instant, milliseconds since the epoch.
 */
export type DateEdge =
  | { readonly edge: 'start'; readonly op: '>=' | '<'; readonly at: number }
  | { readonly edge: 'end'; readonly op: '<=' | '>'; readonly at: number };

/** The value against a decimal, kept as text so that nothing is rounded. */
export interface NumberEdge {
  readonly op: '<' | '<=' | '>' | '>=';
  readonly at: string;
  /** What stands for an interval (`<5`) must satisfy it as a whole, not in part (`sa`, `eb`). */
  readonly whole?: true;
}

/** The instant that a search is evaluated at. */
export interface Clock {
  /**
   * Milliseconds since the epoch; the same for all pages of a search. Plans read it through `nowPredicate` and
   * `instantOf` alone.
   */
  readonly now: number;
  /** In a plan that is to be kept: how it compares with the instant of each use. */
  readonly moments?: Moments;
}

export type NowCondition = Extract<Condition, { kind: 'now' }>;

export interface Moments {
  /** The rows where the condition holds, at whatever instant the plan is used. */
  read(condition: NowCondition): Predicate;
  /** What is made depends on the instant otherwise: it serves this use alone. */
  forOnce(): void;
}

/** The instant as a number: what is made by it serves this use alone. */
export function instantOf({ now, moments }: Clock): number {
  moments?.forOnce();
  return now;
}
