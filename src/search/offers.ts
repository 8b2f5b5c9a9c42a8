/**
 * The table of what can be searched, behind parsing, the CapabilityStatement and the matrix of `check`. It is made by
 * src/plan/offers.ts from the mappings.
 */
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { CodesBySystem, Hierarchies } from '../r4/terminology.ts';
import type { Modifier } from './query.ts';

export interface Offered {
  readonly parameter: SearchParameter;
  /** `indexed`: plain comparisons of columns; `computed`: some column is computed on first. */
  readonly inverse: 'indexed' | 'computed';
  readonly modifiers: ReadonlySet<Modifier | 'missing'>;
  readonly sortable: boolean;
  /** Values can be asked for by their digits, which no FHIR search does. */
  readonly byDigits: boolean;
  /** For references: the types that the mappings really refer to; none where they only name an address (canonical). */
  readonly targets: readonly string[];
  /** For references: some are addresses (canonical), which may name a resource that nobody looks for. */
  readonly byAddress: boolean;
}

/** Whether includes can go along it. */
export function isIncludable({ parameter, targets }: Offered): boolean {
  return parameter.type === 'reference' && targets.length > 0;
}

export interface Offers {
  readonly types: readonly string[];
  find(type: string, code: string): Offered | undefined;
  /** FHIR defines the parameter for the type, and no mapping ever gives a value for it: it can match nothing. */
  isNeverGiven(type: string, code: string): boolean;
  /** All of a type, in order of their codes. */
  of(type: string): readonly Offered[];
  /** The codes of a value set of this server's own, by its canonical address. */
  valueSet(url: string): CodesBySystem | undefined;
  /** Hierarchies of code systems that the pack brings. */
  readonly hierarchies: Hierarchies | undefined;
}
