/**
 * Profiles and extensions that mappings name by a short name: US Core (3.1.1, 6.1.0, 7.0.0) and the R4 base profiles.
 *
 * In: `profiles.json`, written by tools/r4/generate.ts. Out: read-only look-ups.
 * https://hl7.org/fhir/R4/profilelist.html
 *
 *   profileOf(name): Profile|undefined     'us-core-blood-pressure', 'bp', 'us-core-race'
 *   profileUrl(name): string|undefined
 *   profileNames(): readonly string[]
 */

import { readBeside } from './read-beside.ts';

export interface Profile {
  readonly url: string;
  /** The resource or data type that it constrains; Extension for an extension. */
  readonly type: string;
  /** US Core versions that define it; empty for R4 itself. */
  readonly usCore: readonly string[];
}

const table: Readonly<Record<string, Profile>> = readBeside(import.meta.url, './profiles.json');

/** Returns the profile of a short name (the `id` of its StructureDefinition). */
export function profileOf(name: string): Profile | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns the canonical URL of a short name. */
export function profileUrl(name: string): string | undefined {
  return profileOf(name)?.url;
}

/** Returns all short names, to suggest the nearest spelling. */
export function profileNames(): readonly string[] {
  return Object.keys(table);
}
