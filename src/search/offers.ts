/**
 * Defines the table of what can be searched, for parsing, the CapabilityStatement and the matrix of `check`.
 * src/plan/offers.ts makes it from the mappings.
 */
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { CodesBySystem, Hierarchies } from '../r4/terminology.ts';
import type { Modifier } from './query.ts';

export interface Offered {
  readonly parameter: SearchParameter;
  /** `indexed`: plain comparisons of columns. `computed`: some column is computed on first. */
  readonly inverse: 'indexed' | 'computed';
  readonly modifiers: ReadonlySet<Modifier | 'missing'>;
  readonly sortable: boolean;
  /** Values can be searched by their digits, which no FHIR search does. */
  readonly byDigits: boolean;
  /** For references: the types that the mappings refer to; none if they only contain URLs (canonical). */
  readonly targets: readonly string[];
  /** For references: some are URLs (canonical), which may name a resource that the server does not look up. */
  readonly byAddress: boolean;
}

/** True if includes can follow the parameter. */
export function isIncludable({ parameter, targets }: Offered): boolean {
  return parameter.type === 'reference' && targets.length > 0;
}

export interface Offers {
  readonly types: readonly string[];
  find(type: string, code: string): Offered | undefined;
  /** True if FHIR defines the parameter for the type but no mapping gives a value for it, so that nothing can match. */
  isNeverGiven(type: string, code: string): boolean;
  /** Returns all of a type, in order of their codes. */
  of(type: string): readonly Offered[];
  /** Returns the codes of a value set of this server by its canonical URL. */
  valueSet(url: string): CodesBySystem | undefined;
  /** Hierarchies of code systems in the pack. */
  readonly hierarchies: Hierarchies | undefined;
}
