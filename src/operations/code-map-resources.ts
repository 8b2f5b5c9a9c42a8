/**
 * Shows the code maps of a pack as ConceptMaps and ValueSets. In: a registry. Out: resources with an id for each map.
 * https://hl7.org/fhir/R4/metadataresource.html
 */
import { addressOf } from '../common/named-address.ts';
import { codeOf } from '../mapping/codecs/code.ts';
import type { Coded, CodeMap } from '../mapping/codecs/code-map.ts';
import type { Json, Pack, Registry } from '../mapping/model.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { OwnResource } from './constant-mapping.ts';

export interface NamedMap {
  readonly id: string;
  readonly map: CodeMap;
}

/** Gives each map an id of its own; the same map has the same id in every resource type. */
export function namedMaps({ codeMaps }: Registry): readonly NamedMap[] {
  const ids = new Set<string>();
  return codeMaps.map(map => {
    const id = idFor(map.name, ids);
    ids.add(id);
    return { id, map };
  });
}

export function canonicalHead(
  type: string,
  id: string,
  title: string,
  { name: pack, publisher }: Pack,
): { readonly [element: string]: Json } {
  return {
    url: addressOf(`${pack}/${type}/${id}`),
    name: computable(id),
    title,
    status: 'active',
    ...(publisher === undefined ? {} : { publisher }),
  };
}

/** Returns the name reduced to the characters of an id, with a number if another map has that id. */
function idFor(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, 58) || 'map';
  for (let n = 2, id = plain; ; n++) {
    if (!taken.has(id)) return id;
    id = `${plain}-${n}`;
  }
}

/** Returns a name that code generators can use (cmd-0). */
function computable(id: string): string {
  const joined = id.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  return /^[A-Z]/.test(joined) ? joined.replace(/[^A-Za-z0-9]/g, '') : `Map${joined.replace(/[^A-Za-z0-9]/g, '')}`;
}

type Members = { readonly [element: string]: Json };

const CONCEPT_MAP = 'ConceptMap';

/**
 * Shows the code maps of a pack as ConceptMaps, so that a reviewer who knows FHIR sees what each legacy value becomes.
 * In: a registry. Out: one resource per map whose rows are in the pack. https://hl7.org/fhir/R4/conceptmap.html
 * Empty if the pack maps ConceptMaps of its own: a type has one source.
 */
export function conceptMapsOf(registry: Registry): readonly OwnResource[] {
  if (registry.types.includes(CONCEPT_MAP)) return [];
  return namedMaps(registry).flatMap(({ id, map }) => {
    const group = groupsOf(map);
    if (group.length === 0) return [];
    return [{ type: CONCEPT_MAP, id, content: { ...headOf(map, id, registry.pack), group } }];
  });
}

function headOf({ name, fold, else: unmapped }: CodeMap, id: string, pack: Pack): Members {
  const others = {
    absent: 'give nothing',
    text: 'are kept as text',
    code: 'give one code',
    local: 'are kept as codes',
  };
  return {
    ...canonicalHead(CONCEPT_MAP, id, name, pack),
    description: `Values of the legacy database and the codes they are served as. Other values ${others[unmapped.kind]}.${
      fold ? ' Upper and lower case are the same.' : ''
    }`,
  };
}

/** Returns one group per target system; rows that mean no code are in the group of the first. */
function groupsOf(map: CodeMap): readonly Members[] {
  const rows: (readonly [raw: string | undefined, coded: Coded | undefined])[] = [...map.rows];
  if (map.blank) rows.push([undefined, map.blank]);
  const first = rows.find(([, coded]) => coded)?.[1]?.system;
  const bySystem = Map.groupBy(rows, ([, coded]) => (coded ? coded.system : first));
  return [...bySystem].map(([system, members]) => ({
    ...(system === undefined ? {} : { target: system }),
    element: members.map(([raw, coded]) => ({ ...sourceOf(raw), target: [targetOf(coded)] })),
    ...unmappedOf(map, system),
  }));
}

/** Returns the source of a row. A raw value that FHIR's `code` forbids, and the blank one, have only a display. */
function sourceOf(raw: string | undefined): Members {
  if (raw === undefined) return { display: 'NULL or blank' };
  return codeOf(raw) === raw ? { code: raw } : { display: raw };
}

function targetOf(coded: Coded | undefined): Members {
  if (!coded) return { equivalence: 'unmatched' };
  const { code, display } = coded;
  return { code, ...(display === undefined ? {} : { display }), equivalence: 'equivalent' };
}

function unmappedOf({ else: unmapped }: CodeMap, system: string | undefined): Members {
  if (unmapped.kind === 'local' && unmapped.system === system) return { unmapped: { mode: 'provided' } };
  if (unmapped.kind !== 'code' || unmapped.coded.system !== system) return {};
  const { code, display } = unmapped.coded;
  return { unmapped: { mode: 'fixed', code, ...(display === undefined ? {} : { display }) } };
}

const VALUE_SET = 'ValueSet';

/**
 * Shows the target codes of code maps as ValueSets, which `:in` may name. In: a registry. Out: one resource per map
 * whose codes have a system. https://hl7.org/fhir/R4/valueset.html
 * Empty if the pack maps ValueSets of its own: a type has one source.
 */
export function valueSetsOf(registry: Registry): readonly OwnResource[] {
  if (registry.types.includes(VALUE_SET)) return [];
  return namedMaps(registry).flatMap(({ id, map }) => {
    const include = includesOf(map);
    if (include.length === 0) return [];
    const description = `Codes that the code map ${map.name} gives.`;
    const content = { ...canonicalHead(VALUE_SET, id, map.name, registry.pack), description, compose: { include } };
    return [{ type: VALUE_SET, id, content }];
  });
}

type Concept = { readonly code: string; readonly display?: string };
type Include = { readonly system: string; readonly concept: readonly Concept[] };

/** Lists the codes by system; a code for several values is listed once. */
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

/** Returns the codes of ValueSets by canonical URL. */
export function codesOfValueSets(resources: readonly OwnResource[]): ReadonlyMap<string, CodesBySystem> {
  return new Map(
    resources.flatMap(({ type, content }) => {
      const { url, compose } = content;
      if (type !== VALUE_SET || typeof url !== 'string') return [];
      const { include } = compose as { readonly include: readonly Include[] } & Json;
      return [[url, include.map(({ system, concept }) => [system, concept.map(({ code }) => code)] as const)] as const];
    }),
  );
}
