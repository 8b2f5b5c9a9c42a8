/**
 * Shows the target codes of code maps as ValueSets, which `:in` may name. In: a registry. Out: one resource per map
 * whose codes have a system, and the codes by the address of the resource.
 * https://hl7.org/fhir/R4/valueset.html
 */
import type { Coded, CodeMap } from '../mapping/codecs/code-map.ts';
import type { Json, Registry } from '../mapping/model.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import { canonicalHead, namedMaps } from './code-map-names.ts';
import type { OwnResource } from './constant-mapping.ts';

const TYPE = 'ValueSet';

/** None where the pack maps ValueSets of its own: a type has one source. */
export function valueSetsOf(registry: Registry): readonly OwnResource[] {
  if (registry.types.includes(TYPE)) return [];
  return namedMaps(registry).flatMap(({ id, map }) => {
    const include = includesOf(map);
    if (include.length === 0) return [];
    const description = `Codes that the code map ${map.name} gives.`;
    const content = { ...canonicalHead(TYPE, id, map.name, registry.pack), description, compose: { include } };
    return [{ type: TYPE, id, content }];
  });
}

type Concept = { readonly code: string; readonly display?: string };
type Include = { readonly system: string; readonly concept: readonly Concept[] };

/** A code that stands for many values is listed once. */
function includesOf({ rows, blank, else: unmapped }: CodeMap): readonly Include[] {
  const coded: readonly (Coded | undefined)[] = [
    ...rows.values(),
    blank,
    unmapped.kind === 'code' ? unmapped.coded : undefined,
  ];
  const systems = new Map<string, Map<string, Concept>>();
  for (const one of coded) {
    if (one?.system === undefined) continue;
    const { code, display, system } = one;
    const concepts = systems.get(system) ?? new Map<string, Concept>();
    if (!concepts.has(code)) concepts.set(code, { code, ...(display === undefined ? {} : { display }) });
    systems.set(system, concepts);
  }
  return [...systems].map(([system, concepts]) => ({ system, concept: [...concepts.values()] }));
}

/** By canonical address. */
export function codesOfValueSets(resources: readonly OwnResource[]): ReadonlyMap<string, CodesBySystem> {
  return new Map(
    resources.flatMap(({ type, content }) => {
      const { url, compose } = content;
      if (type !== TYPE || typeof url !== 'string') return [];
      const { include } = compose as { readonly include: readonly Include[] } & Json;
      return [[url, include.map(({ system, concept }) => [system, concept.map(({ code }) => code)] as const)] as const];
    }),
  );
}
