/**
 * A finding of the validator: what is wrong with a resource, and which rule says so. It never contains a value of the
 * resource.
 */
import type { Facts, Release } from './facts.ts';

export interface Finding {
  /** `advice`: what a resource should be; `unknown`: a claimed profile that is not known here, so not judged. */
  readonly kind: 'error' | 'advice' | 'unknown';
  /** JSON path: `Observation.component[1].valueQuantity.unit`, a slice as `Observation.category:VSCat`. */
  readonly where: string;
  /** `is missing` */
  readonly what: string;
  /** Of a broken invariant: `about` are the elements below `where` that it is likely about, the likeliest first. */
  readonly invariant?: { readonly key: string; readonly human: string; readonly about: readonly string[] };
  /** Undefined: R4 itself. */
  readonly by: Authority | undefined;
}

/** A profile or an extension's definition, in a release. */
export interface Authority {
  readonly url: string;
  readonly release: Release;
  /** The releases that the claim is held to. */
  readonly among: readonly Release[];
}

/** Facts and who states them. */
export interface Held {
  readonly facts: Facts;
  readonly by: Authority | undefined;
}

/** `Observation.status: is missing` */
export function formatFinding({ where, what }: Finding): string {
  return `${where}: ${what}`;
}

/** What some facts say of a part of their element, with who says it. */
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
