/**
 * What a FHIR search type consists of: how a value is read, and how values are matched against a mapped element. One
 * file of this folder per type; `types.ts` has the table.
 */
import type { Clock, Criterion } from '../../mapping/criterion.ts';
import type { Node } from '../../mapping/model.ts';
import type { SearchParameter, SearchParameterType, SearchPath } from '../../r4/search-parameters.ts';
import type { Predicate } from '../../sql/expression.ts';
import type { TypedValue } from '../query.ts';
import type { ValueContext } from '../values.ts';

export type SearchedParameter = Pick<SearchParameter, 'type' | 'code' | 'targets' | 'components'>;

export interface SearchType {
  /** Types one value. Throws FhirError, which names the parameter and the expected form and never the value. */
  read(text: string, parameter: SearchedParameter, context: ValueContext): TypedValue;
  /**
   * By data type, the paths to the parts that are searched: an element without any of them has no value for `:missing`.
   * A primitive is its own part.
   */
  readonly parts: Readonly<Record<string, readonly SearchPath[]>>;
}

/**
 * The question at the end of a path: asks a constant, value, object, reference or text whether its value matches;
 * undefined if SQL cannot answer it.
 */
export type Leaf = (node: Node) => Predicate | undefined;

export type Kind = TypedValue['kind'];
export type Of<K extends Kind> = Extract<TypedValue, { readonly kind: K }>;

/** The questions that matches are made of. The planner answers them for its environment (src/plan/filter.ts). */
export interface Asking {
  /** Asks a primitive for one of several. */
  primitive(...criteria: readonly Criterion[]): Leaf;
  /** The primitive is one of these texts. */
  exact(...texts: readonly string[]): Leaf;
  /** Likewise, in any case of ASCII letters. */
  anyCase(...texts: readonly string[]): Leaf;
  /** There is a value at all. */
  readonly present: Leaf;
  /** It has a value that a parameter of this type can search. */
  bears(type: SearchParameterType): Leaf;
  along(node: Node, path: SearchPath, leaf: Leaf): Predicate | undefined;
  child(node: Node, element: string, leaf: Leaf): Predicate | undefined;
  /** The reference leads to one of these resources. */
  refersTo(references: readonly Of<'reference'>[]): Leaf;
  /** The text of a reference names one of these resources. */
  names(references: readonly Of<'reference'>[]): Leaf;
  /** Only `ap` asks for the present instant. */
  readonly clock: Clock;
  /** Both halves of a token must be of the same item. Switched off by tests alone. */
  readonly sameItem: boolean;
}

/** Paths to elements. */
export function paths(...elements: readonly string[]): readonly SearchPath[] {
  return elements.map(element => [{ element }]);
}
