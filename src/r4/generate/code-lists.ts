/**
 * Lists the codes of the value sets that R4 elements are bound to, as value-sets.json holds them.
 *
 * In: value-set addresses and the HL7 value sets and code systems. Out: value set (short address) to rows [system, codes],
 * codes null where R4 does not list them or they are more than MAX_CODES. https://hl7.org/fhir/R4/valueset.html#compositions
 */

import type { Concept, Hl7, ValueSetSource } from './sources.ts';

type CodeRows = readonly (readonly [system: string, codes: readonly string[] | null])[];
type Include = NonNullable<ValueSetSource['compose']>['include'][number];

const MAX_CODES = 150;
const VALUE_SET_BASE = 'http://hl7.org/fhir/ValueSet/';

/** Rows for each value set; one whose definition R4 does not carry is left out. */
export function requiredValueSets(urls: readonly string[], hl7: Hl7): Record<string, CodeRows> {
  const sets: Record<string, CodeRows> = {};
  for (const url of urls) {
    const bySystem = expand(url, hl7);
    if (bySystem === undefined) continue;
    const total = [...bySystem.values()].reduce((sum, codes) => sum + (codes?.length ?? 0), 0);
    const rows = [...bySystem].map(([system, codes]) => [system, total > MAX_CODES ? null : codes] as const);
    sets[url.startsWith(VALUE_SET_BASE) ? url.slice(VALUE_SET_BASE.length) : url] = rows;
  }
  return sets;
}

function expand(url: string, hl7: Hl7): Map<string, readonly string[] | null> | undefined {
  const compose = hl7.valueSets.get(url.replace(/\|.*$/, ''))?.compose;
  if (compose === undefined) return undefined;
  const bySystem = new Map<string, readonly string[] | null>();
  const add = (system: string, codes: readonly string[] | null) => {
    const known = bySystem.get(system);
    bySystem.set(system, codes === null || known === null ? null : [...new Set([...(known ?? []), ...codes])]);
  };
  for (const include of compose.include) {
    if (include.system !== undefined) add(include.system, codesOf(include, hl7));
    for (const other of include.valueSet ?? []) {
      for (const [system, codes] of expand(other, hl7) ?? []) add(system, codes);
    }
  }
  for (const exclude of compose.exclude ?? []) {
    const known = exclude.system === undefined ? undefined : bySystem.get(exclude.system);
    const excluded = new Set(codesOf(exclude, hl7) ?? []);
    if (exclude.system !== undefined && known)
      bySystem.set(
        exclude.system,
        known.filter(code => !excluded.has(code)),
      );
  }
  return bySystem;
}

function codesOf(include: Include, hl7: Hl7): readonly string[] | null {
  if (include.concept !== undefined) return include.concept.map(concept => concept.code);
  const system = include.system === undefined ? undefined : hl7.codeSystems.get(include.system);
  if (system?.content !== 'complete' || system.concept === undefined) return null;
  const filters = include.filter ?? [];
  // Only hierarchies can be followed here; any other filter leaves the set open.
  if (filters.some(filter => filter.property !== 'concept' || !['is-a', 'descendent-of'].includes(filter.op)))
    return null;
  const codes: string[] = [];
  const walk = (concepts: readonly Concept[], above: readonly string[]) => {
    for (const concept of concepts) {
      const inside = filters.every(
        ({ op, value }) => above.includes(value) || (op === 'is-a' && concept.code === value),
      );
      if (inside) codes.push(concept.code);
      walk(concept.concept ?? [], [...above, concept.code]);
    }
  };
  walk(system.concept, []);
  return codes;
}
