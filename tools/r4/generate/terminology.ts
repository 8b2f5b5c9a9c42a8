/**
 * What searches with `:in`, `:above` and `:below` know of terminology.
 *
 * In: the value sets and code systems of HL7 and of guides. Out: value sets whose codes can all be listed, and for each
 * complete code system with a hierarchy the codes that are directly below others.
 * https://hl7.org/fhir/R4/codesystem.html#hierarchy
 */

import { expand } from './code-lists.ts';
import type { CodeSystemSource, Concept, Guide, Hl7, Terminology } from './sources.ts';

type CodeRows = readonly (readonly [system: string, codes: readonly string[]])[];

/** Larger value sets require a terminology server. */
const MAX_CODES = 150;
/** Their value sets belong to messages and structures, not to records. */
const LEFT_OUT = /^http:\/\/terminology\.hl7\.org\/ValueSet\/v[23]-/;

/** By canonical URL. */
export function listedValueSets(hl7: Hl7, guides: readonly Guide[]): Record<string, CodeRows> {
  const sets = new Map<string, CodeRows>();
  const releases: readonly Terminology[] = [hl7, ...guides.toReversed()];
  const known: Terminology = {
    codeSystems: new Map(releases.flatMap(({ codeSystems }) => [...codeSystems])),
    valueSets: new Map(releases.flatMap(({ valueSets }) => [...valueSets])),
  };
  for (const url of known.valueSets.keys()) {
    const rows = LEFT_OUT.test(url) ? undefined : listed(url, known);
    if (rows) sets.set(url, rows);
  }
  return Object.fromEntries([...sets].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function listed(url: string, known: Terminology): CodeRows | undefined {
  const rows: (readonly [string, readonly string[]])[] = [];
  for (const [system, codes] of expand(url, known) ?? []) {
    if (codes === null) return undefined;
    rows.push([system, codes]);
  }
  const total = rows.reduce((sum, [, codes]) => sum + codes.length, 0);
  return total > 0 && total <= MAX_CODES ? rows : undefined;
}

/** Code system to code to the codes directly below it. */
export function hierarchies({ codeSystems }: Terminology): Record<string, Record<string, readonly string[]>> {
  const found = [...codeSystems.values()].flatMap(system => {
    const children = childrenIn(system);
    return children.length > 0 ? [[system.url, Object.fromEntries(children)] as const] : [];
  });
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function childrenIn({ content, concept = [] }: CodeSystemSource): readonly (readonly [string, readonly string[]])[] {
  const below = ({ code, concept: children = [] }: Concept): readonly (readonly [string, readonly string[]])[] =>
    children.length === 0 ? [] : [[code, children.map(child => child.code)], ...children.flatMap(below)];
  return content === 'complete' ? concept.flatMap(below) : [];
}
