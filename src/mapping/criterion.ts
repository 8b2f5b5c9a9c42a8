/**
 * Defines what a search asks of one primitive value. src/search/types splits searches on data types (CodeableConcept,
 * Period, Quantity …) into these criteria.
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
   * String search: case and accents are folded unless `exact`. `word`: some word begins with this one
   * (src/sql/shared-functions.ts).
   */
  | { readonly kind: 'string'; readonly mode: StringMode; readonly text: string }
  | { readonly kind: 'uri-below'; readonly text: string }
  /** The value's interval in time satisfies one of these conjunctions. */
  | { readonly kind: 'date'; readonly any: readonly (readonly DateEdge[])[] }
  /** The value (a point, or an interval for `<5`) satisfies one of these conjunctions. */
  | { readonly kind: 'number'; readonly any: readonly (readonly NumberEdge[])[] }
  /** The digits of the value (0 to 9, everything else left out) pass one of these tests. No FHIR search uses it. */
  | { readonly kind: 'digits'; readonly any: readonly DigitsTest[] };

/** `listed`: one of many texts, so that the statement has no room for several spellings of each. */
export type AnyCase = 'alone' | 'listed';

export type StringMode = 'starts' | 'exact' | 'contains' | 'word';

/** Digits to compare with those of a text. */
export interface DigitsTest {
  /** At least one digit, 0 to 9 only; otherwise nothing passes. */
  readonly digits: string;
  /** `extended`: the digits of the text begin with them, and it has an x or # before an extension. */
  readonly where: 'whole' | 'end' | 'extended';
}

/**
 * Compares the start (inclusive) or end (exclusive) of the value's interval with an instant in milliseconds since the
 * epoch.
 */
export type DateEdge =
  | { readonly edge: 'start'; readonly op: '>=' | '<'; readonly at: number }
  | { readonly edge: 'end'; readonly op: '<=' | '>'; readonly at: number };

/** Compares the value with a decimal, kept as text so that nothing is rounded. */
export interface NumberEdge {
  readonly op: '<' | '<=' | '>' | '>=';
  readonly at: string;
  /** An interval (`<5`) must satisfy it as a whole, not in part (`sa`, `eb`). */
  readonly whole?: true;
}

/** The instant that a search is evaluated at. */
export interface Clock {
  /**
   * Milliseconds since the epoch; the same for all pages of a search. Plans read it only through `nowPredicate` and
   * `instantOf`.
   */
  readonly now: number;
  /** In a plan that is cached: how it compares with the instant of each use. */
  readonly moments?: Moments;
}

export type NowCondition = Extract<Condition, { kind: 'now' }>;

export interface Moments {
  /** Returns the rows where the condition holds, at whatever instant the plan is used. */
  read(condition: NowCondition): Predicate;
  /** Marks the plan as valid for this use only, because it depends on the instant in another way. */
  forOnce(): void;
}

/** Returns the instant as a number. The plan is then valid for this use only. */
export function instantOf({ now, moments }: Clock): number {
  moments?.forOnce();
  return now;
}
