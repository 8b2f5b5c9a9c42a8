/**
 * Defines what a FHIR search type consists of: how a value is read, and how values are matched against a mapped
 * element.
 * One file of this folder per type; `types.ts` has the table.
 */
import type { Clock, Criterion } from '../../mapping/criterion.ts';
import type { Node } from '../../mapping/model.ts';
import type { SearchParameter, SearchParameterType, SearchPath } from '../../r4/search-parameters.ts';
import type { Predicate } from '../../sql/expression.ts';
import type { TypedValue } from '../query.ts';
import type { ValueContext } from '../values.ts';

export type SearchedParameter = Pick<SearchParameter, 'type' | 'code' | 'targets' | 'components'>;

export interface SearchType {
  /** Reads one value. Throws a FhirError that names the parameter and the expected form, never the value. */
  read(text: string, parameter: SearchedParameter, context: ValueContext): TypedValue;
  /**
   * Paths to the searched parts by data type. An element without any of them has no value for `:missing`. A primitive
   * is its own part.
   */
  readonly parts: Readonly<Record<string, readonly SearchPath[]>>;
}

/**
 * Tests the node at the end of a path (a constant, value, object, reference or text) for a match. Undefined if SQL
 * cannot test it.
 */
export type Leaf = (node: Node) => Predicate | undefined;

export type Kind = TypedValue['kind'];
export type Of<K extends Kind> = Extract<TypedValue, { readonly kind: K }>;

/** The tests that matches are made of. The planner implements them for its environment (src/plan/filter.ts). */
export interface Asking {
  /** Tests a primitive for one of several criteria. */
  primitive(...criteria: readonly Criterion[]): Leaf;
  /** Tests that the primitive is one of these texts. */
  exact(...texts: readonly string[]): Leaf;
  /** Tests the same in any case of ASCII letters. */
  anyCase(...texts: readonly string[]): Leaf;
  /** Tests that there is a value. */
  readonly present: Leaf;
  /** Tests for a value that a parameter of this type can search. */
  hasSearchable(type: SearchParameterType): Leaf;
  along(node: Node, path: SearchPath, leaf: Leaf): Predicate | undefined;
  child(node: Node, element: string, leaf: Leaf): Predicate | undefined;
  /** Tests that the reference leads to one of these resources. */
  refersTo(references: readonly Of<'reference'>[]): Leaf;
  /** Tests that the text of a reference names one of these resources. */
  names(references: readonly Of<'reference'>[]): Leaf;
  /** Only `ap` uses the present instant. */
  readonly clock: Clock;
  /** True if both halves of a token must belong to the same item. Only tests switch it off. */
  readonly sameItem: boolean;
}

/** Makes paths to elements. */
export function paths(...elements: readonly string[]): readonly SearchPath[] {
  return elements.map(element => [{ element }]);
}
