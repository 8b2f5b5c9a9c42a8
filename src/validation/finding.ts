/**
 * Defines a finding of the validator: what is wrong with a resource, and which rule says so. It never contains a value
 * of the resource.
 */
import type { Facts, Release } from './facts.ts';

export interface Finding {
  /**
   * `advice`: what a resource should have; `unknown`: a claimed profile that is not known here, so it was not checked.
   */
  readonly kind: 'error' | 'advice' | 'unknown';
  /** JSON path: `Observation.component[1].valueQuantity.unit`, a slice as `Observation.category:VSCat`. */
  readonly where: string;
  /** What is wrong: `is missing`. */
  readonly what: string;
  /** For a broken invariant: `about` has the elements below `where` that are its likely cause, the likeliest first. */
  readonly invariant?: { readonly key: string; readonly human: string; readonly about: readonly string[] };
  /** Undefined: R4 itself. */
  readonly by: Authority | undefined;
}

/** A profile or an extension's definition, in a release. */
export interface Authority {
  readonly url: string;
  readonly release: Release;
  /** The releases that the claim is checked against. */
  readonly among: readonly Release[];
}

/** Facts and who states them. */
export interface Held {
  readonly facts: Facts;
  readonly by: Authority | undefined;
}

/** Returns `Observation.status: is missing`. */
export function formatFinding({ where, what }: Finding): string {
  return `${where}: ${what}`;
}

/** Returns the facts about a part of an element, with their authority. */
export function heldBelow(
  held: readonly Held[],
  below: (facts: Facts) => Facts | readonly Facts[] | undefined,
): readonly Held[] {
  return held.flatMap(({ facts, by }) => {
    const found = below(facts);
    const list: readonly Facts[] = found === undefined ? [] : Array.isArray(found) ? found : [found];
    return list.map(part => ({ facts: part, by }));
  });
}
