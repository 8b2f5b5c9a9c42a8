/**
 * Provides what profiles require beyond the R4 element tables, as data: cardinalities, fixed values and patterns,
 * slices, required bindings, invariants.
 *
 * In: `profiles.json`, `value-sets.json` and `code-systems.json`, written by tools/validation/generate.ts. Out: facts
 * by canonical URL.
 * https://hl7.org/fhir/R4/profiling.html
 */

import type { ValueSet } from '../r4/definitions.ts';
import { readBeside } from '../r4/read-beside.ts';

/** Facts about one element, or about a whole resource or type; an absent fact means that only the R4 tables apply. */
export interface Facts {
  readonly min?: number;
  readonly max?: number;
  /** The remaining types of a choice. */
  readonly types?: readonly string[];
  /** Resource types that a reference may name. */
  readonly targets?: readonly string[];
  /** URL of the extension that a slice of `extension` is for. */
  readonly extension?: string;
  readonly fixed?: unknown;
  readonly pattern?: unknown;
  /** Value set of a required binding. */
  readonly binding?: string;
  readonly discriminators?: readonly Discriminator[];
  /** True if items outside the slices are not allowed. */
  readonly closed?: true;
  readonly slices?: Readonly<Record<string, Facts>>;
  /** By element name, a choice under its base name. */
  readonly children?: Readonly<Record<string, Facts>>;
  /** Invariants that must be true. */
  readonly constraints?: Invariants;
  /** Invariants that should be true: HL7's warnings. */
  readonly advice?: Invariants;
}

/** Key to FHIRPath, and its meaning in words. */
export type Invariants = Readonly<Record<string, readonly [expression: string, human: string]>>;

/** A discriminator of the slices of an element. */
export interface Discriminator {
  readonly type: string;
  readonly path: string;
}

export interface ProfileFacts {
  readonly type: string;
  readonly facts: Facts;
}

/** 'R4' has HL7's own types and profiles; the others are US Core versions. */
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

/** Returns the facts of a profile, extension or type in a release; undefined if that release does not define it. */
export function profileFacts(release: Release, url: string): ProfileFacts | undefined {
  return Object.hasOwn(profiles[release], url) ? profiles[release][url] : undefined;
}

/** Returns the URLs of all profiles of a release. */
export function profileUrls(release: Release): readonly string[] {
  return Object.keys(profiles[release]);
}

/** Returns the value set of a profile's required binding; undefined if it is not known. */
export function profileValueSet(url: string): ValueSet | undefined {
  const rows = valueSets[url];
  if (rows === undefined) return undefined;
  return {
    url,
    systems: rows.map(([system, codes]) => ({ system, codes: codes === null ? undefined : new Set(codes) })),
  };
}

/** True if a code system has a code; undefined for a system that is not listed here (LOINC, SNOMED CT, local ones). */
export function hasCode(system: string, code: string): boolean | undefined {
  return codesBySystem.get(system)?.has(code);
}

/** Returns all codes of a code system, likewise. */
export function codesOf(system: string): ReadonlySet<string> | undefined {
  return codesBySystem.get(system);
}

/** Returns the display of a code of US Core's own systems. */
export function displayOf(system: string, code: string): string | undefined {
  return codeSystems.displays[system]?.[code];
}
