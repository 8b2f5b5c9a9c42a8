/**
 * What profiles ask beyond the R4 element tables, as data: cardinalities, fixed values and patterns, slices, required
 * bindings, invariants.
 *
 * In: `profiles.json`, `value-sets.json` and `code-systems.json`, written by tools/validation/generate.ts. Out: facts
 * by canonical address.
 * https://hl7.org/fhir/R4/profiling.html
 */

import type { ValueSet } from '../r4/definitions.ts';
import { readBeside } from '../r4/read-beside.ts';

/** Facts about one element, or about a whole resource or type; absent means nothing beyond the R4 tables. */
export interface Facts {
  readonly min?: number;
  readonly max?: number;
  /** The types of a choice that are left. */
  readonly types?: readonly string[];
  /** Resource types that a reference may name. */
  readonly targets?: readonly string[];
  /** Address of the extension that a slice of `extension` stands for. */
  readonly extension?: string;
  readonly fixed?: unknown;
  readonly pattern?: unknown;
  /** Value set of a required binding. */
  readonly binding?: string;
  readonly discriminators?: readonly Discriminator[];
  /** Items outside the slices are not allowed. */
  readonly closed?: true;
  readonly slices?: Readonly<Record<string, Facts>>;
  /** By element name, a choice under its base name. */
  readonly children?: Readonly<Record<string, Facts>>;
  /** Invariants that must be true. */
  readonly constraints?: Invariants;
  /** Those that should: HL7's warnings. */
  readonly advice?: Invariants;
}

/** Key to FHIRPath, and what it says in words. */
export type Invariants = Readonly<Record<string, readonly [expression: string, human: string]>>;

/** How the items of a sliced element are told apart. */
export interface Discriminator {
  readonly type: string;
  readonly path: string;
}

export interface ProfileFacts {
  readonly type: string;
  readonly facts: Facts;
}

/** 'R4' holds HL7's own types and profiles; the others are US Core versions. */
export type Release = 'R4' | '3.1.1' | '6.1.0' | '7.0.0';

const profiles: Readonly<Record<Release, Readonly<Record<string, ProfileFacts>>>> = readBeside(
  import.meta.url,
  './profiles.json',
);
const valueSets: Readonly<Record<string, readonly (readonly [string, readonly string[] | null])[]>> = readBeside(
  import.meta.url,
  './value-sets.json',
);

const codeSystems: {
  readonly codes: Readonly<Record<string, readonly string[]>>;
  readonly displays: Readonly<Record<string, Readonly<Record<string, string>>>>;
} = readBeside(import.meta.url, './code-systems.json');
const codesBySystem = new Map(Object.entries(codeSystems.codes).map(([system, codes]) => [system, new Set(codes)]));

/** The facts of a profile, extension or type in a release; undefined if that release does not define it. */
export function profileFacts(release: Release, url: string): ProfileFacts | undefined {
  return Object.hasOwn(profiles[release], url) ? profiles[release][url] : undefined;
}

/** Addresses of all profiles of a release. */
export function profileUrls(release: Release): readonly string[] {
  return Object.keys(profiles[release]);
}

/** The value set of a profile's required binding; undefined if nothing is known of it. */
export function profileValueSet(url: string): ValueSet | undefined {
  const rows = valueSets[url];
  if (rows === undefined) return undefined;
  return {
    url,
    systems: rows.map(([system, codes]) => ({ system, codes: codes === null ? undefined : new Set(codes) })),
  };
}

/** Whether a code system has a code; undefined for a system that is not listed here (LOINC, SNOMED CT, local ones). */
export function hasCode(system: string, code: string): boolean | undefined {
  return codesBySystem.get(system)?.has(code);
}

/** All codes of a code system, likewise. */
export function codesOf(system: string): ReadonlySet<string> | undefined {
  return codesBySystem.get(system);
}

/** The display of a code of US Core's own systems. */
export function displayOf(system: string, code: string): string | undefined {
  return codeSystems.displays[system]?.[code];
}
