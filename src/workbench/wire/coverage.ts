/** Defines the JSON between the view *Coverage* and the server. */
import type { WirePlace } from './mapping.ts';

export interface WireCoverage {
  readonly guide: string;
  /** Available guides: those of Lintel and those of the pack. */
  readonly guides: readonly string[];
  /** Maximum number of resources read per profile. */
  readonly sample: number;
  /** Mappings that the time limit did not reach. */
  readonly unreached: readonly string[];
  readonly profiles: readonly WireProfile[];
  readonly certification: readonly WireVerdict[];
  readonly topics: readonly WireTopic[];
  /** True if the current texts have errors: this is about the last ones without. */
  readonly stale: boolean;
}

export type WireState = 'ready' | 'no data' | 'gaps' | 'not mapped';

export interface WireVerdict {
  readonly name: string;
  readonly verdict: WireState;
  readonly missing: readonly string[];
}

export interface WireProfile {
  readonly profile: string;
  readonly type: string;
  readonly verdict: WireState;
  /** Result in the test kit; undefined if it is not tested. */
  readonly kit: { readonly verdict: 'pass' | 'skip' | 'fail'; readonly because: readonly string[] } | undefined;
  readonly mappings: readonly string[];
  /** Number of sampled resources that claim it; undefined if the time was over. */
  readonly resources: number | undefined;
  readonly elements: readonly WireElementCoverage[];
  readonly searches: readonly WireSearchCoverage[];
}

export interface WireElementCoverage {
  readonly element: string;
  readonly state: 'filled' | 'empty' | 'mapped' | 'other' | 'unmapped';
  /** Number of resources that have it. */
  readonly resources: number | undefined;
  readonly place: WirePlace | undefined;
  readonly lacksTargets: readonly string[];
}

export interface WireSearchCoverage {
  readonly search: string;
  readonly strength: 'SHALL' | 'SHOULD';
  readonly offered: boolean;
  readonly lacks: readonly string[];
}

/** A C-CDA document. */
export interface WireTopic {
  readonly name: string;
  readonly title: string;
  readonly verdict: WireState;
  readonly lists: readonly {
    readonly list: string;
    readonly type: string;
    readonly state: 'filled' | 'empty' | 'mapped' | 'unmapped';
  }[];
  readonly missing: readonly string[];
}
