/**
 * Lists the codes of the value sets that R4 elements are bound to, as value-sets.json holds them.
 *
 * In: value-set addresses and the HL7 value sets and code systems. Out: value set (short address) to rows [system,
 * codes], codes null where R4 does not list them or they are more than MAX_CODES.
 * https://hl7.org/fhir/R4/valueset.html#compositions
 */

import type { Concept, Terminology, ValueSetSource } from './sources.ts';

type CodeRows = readonly (readonly [system: string, codes: readonly string[] | null])[];
type Include = NonNullable<ValueSetSource['compose']>['include'][number];

const MAX_CODES = 150;
const VALUE_SET_BASE = 'http://hl7.org/fhir/ValueSet/';

/** Returns the rows of each value set; one without a definition in R4 is omitted. */
export function requiredValueSets(urls: readonly string[], known: Terminology): Record<string, CodeRows> {
  const sets: Record<string, CodeRows> = {};
  for (const url of urls) {
    const bySystem = expand(url, known);
    if (bySystem === undefined) continue;
    const total = [...bySystem.values()].reduce((sum, codes) => sum + (codes?.length ?? 0), 0);
    const rows = [...bySystem].map(([system, codes]) => [system, total > MAX_CODES ? null : codes] as const);
    sets[url.startsWith(VALUE_SET_BASE) ? url.slice(VALUE_SET_BASE.length) : url] = rows;
  }
  return sets;
}

/**
 * Returns codes by system, null for a system whose codes are unknown here; undefined for a value set that is unknown or
 * includes such a one.
 */
export function expand(url: string, known: Terminology): Map<string, readonly string[] | null> | undefined {
  const compose = known.valueSets.get(url.replace(/\|.*$/, ''))?.compose;
  if (compose === undefined) return undefined;
  const bySystem = new Map<string, readonly string[] | null>();
  const add = (system: string, codes: readonly string[] | null) => {
    const before = bySystem.get(system);
    bySystem.set(system, codes === null || before === null ? null : [...new Set([...(before ?? []), ...codes])]);
  };
  for (const include of compose.include) {
    // A system with value sets has the codes that both have; to omit it is the safe side.
    if (include.system !== undefined) add(include.system, include.valueSet ? null : codesOf(include, known));
    if (include.system !== undefined && include.valueSet) continue;
    for (const other of include.valueSet ?? []) {
      const included = expand(other, known);
      if (included === undefined) return undefined;
      for (const [system, codes] of included) add(system, codes);
    }
  }
  for (const exclude of compose.exclude ?? []) {
    const before = exclude.system === undefined ? undefined : bySystem.get(exclude.system);
    const excluded = new Set(codesOf(exclude, known) ?? []);
    if (exclude.system !== undefined && before)
      bySystem.set(
        exclude.system,
        before.filter(code => !excluded.has(code)),
      );
  }
  return bySystem;
}

function codesOf(include: Include, known: Terminology): readonly string[] | null {
  if (include.concept !== undefined) return include.concept.map(concept => concept.code);
  const system = include.system === undefined ? undefined : known.codeSystems.get(include.system);
  if (system?.content !== 'complete' || system.concept === undefined) return null;
  const filters = include.filter ?? [];
  // Only hierarchies are supported here; any other filter leaves the set open.
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
