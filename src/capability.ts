/**
 * Derives the CapabilityStatement from the mappings, so that it says what the server really offers.
 * https://hl7.org/fhir/R4/capabilitystatement.html
 */
import type { Mapping, Node, Registry } from './mapping/model.ts';
import { COMPARTMENT_TYPE } from './r4/search-parameters.ts';
import { isIncludable, type Offered, type Offers } from './search/offers.ts';

export interface CapabilityContext {
  readonly registry: Registry;
  readonly offers: Offers;
  /** Types that come from the server itself rather than from a mapping. */
  readonly ownTypes: readonly string[];
  readonly operations: readonly {
    readonly name: string;
    readonly definition: string;
    readonly types: readonly string[];
  }[];
  readonly base: string;
  /** True if the server answers browser applications of other origins. */
  readonly cors: boolean;
  /** ISO date of the build or of the mappings' last change. */
  readonly date: string;
  readonly version: string;
}

/** The patient compartment. https://hl7.org/fhir/R4/compartmentdefinition-patient.html */
const COMPARTMENT = 'http://hl7.org/fhir/CompartmentDefinition/patient';
/** Prefix of search parameters that all resources have. */
const OF_ALL = 'http://hl7.org/fhir/SearchParameter/Resource-';
/** Prefix of US Core's addresses, and the CapabilityStatement that a server with its profiles instantiates. */
const US_CORE = 'http://hl7.org/fhir/us/core/';
const US_CORE_SERVER = `${US_CORE}CapabilityStatement/us-core-server`;
/** Likewise for the Bulk Data Access guide, for a server with its operations. */
const BULK_DATA = 'http://hl7.org/fhir/uv/bulkdata/';
const BULK_DATA_SERVER = `${BULK_DATA}CapabilityStatement/bulk-data`;
/** The profile that a server of US Core must support, together with at least one other. */
const US_CORE_PATIENT = `${US_CORE}StructureDefinition/us-core-patient`;

export function capabilityStatement(context: CapabilityContext): object {
  const { registry, base, operations } = context;
  const types = [...new Set([...registry.types, ...context.ownTypes])].sort();
  const common = commonParameters(context);
  const instantiates = [
    ...(isUsCore(registry) ? [US_CORE_SERVER] : []),
    ...(operations.some(({ definition }) => definition.startsWith(BULK_DATA)) ? [BULK_DATA_SERVER] : []),
  ];
  return {
    resourceType: 'CapabilityStatement',
    id: 'lintel',
    url: `${base}/metadata`,
    version: '1.0',
    name: 'Lintel',
    title: registry.pack.title,
    status: 'active',
    date: context.date,
    ...(registry.pack.publisher === undefined ? {} : { publisher: registry.pack.publisher }),
    description: 'Read-only FHIR R4 access to an existing EHR database, derived from its mappings.',
    kind: 'instance',
    ...(instantiates.length > 0 ? { instantiates } : {}),
    software: { name: 'Lintel', version: context.version },
    implementation: { description: registry.pack.title, url: base },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'application/fhir+xml'],
    rest: [
      {
        mode: 'server',
        security: { cors: context.cors },
        resource: types.map(type => resourceEntry(type, context)),
        interaction: [{ code: 'search-system' }, { code: 'batch' }],
        ...(common.length > 0 ? { searchParam: common.map(searchParamEntry) } : {}),
        ...(registry.types.includes(COMPARTMENT_TYPE) ? { compartment: [COMPARTMENT] } : {}),
        ...(operations.some(o => o.types.length === 0)
          ? {
              operation: operations
                .filter(o => o.types.length === 0)
                .map(({ name, definition }) => ({ name, definition })),
            }
          : {}),
      },
    ],
  };
}

/** Returns the parameters for a search over all types: those of every resource that some type offers. */
function commonParameters({ registry, offers }: CapabilityContext): readonly Offered[] {
  const known = new Map<string, Offered>();
  for (const offered of registry.types.flatMap(type => offers.of(type)))
    if (offered.parameter.url.startsWith(OF_ALL)) known.set(offered.parameter.code, offered);
  return [...known.values()].sort((a, b) => (a.parameter.code < b.parameter.code ? -1 : 1));
}

function isUsCore(registry: Registry): boolean {
  const profiles = new Set(registry.types.flatMap(type => registry.ofType(type).flatMap(profilesOf)));
  const own = [...profiles].filter(profile => profile.startsWith(US_CORE));
  return own.length > 1 && profiles.has(US_CORE_PATIENT);
}

function resourceEntry(type: string, { registry, offers, operations }: CapabilityContext): object {
  const mappings = registry.ofType(type);
  const profiles = [...new Set(mappings.flatMap(profilesOf))].sort();
  const offered = offers.of(type);
  const references = offered.filter(isIncludable);
  const reverse = registry.types.flatMap(source =>
    withAll(
      source,
      offers.of(source).filter(o => isIncludable(o) && o.targets.includes(type)),
    ),
  );
  const own = operations.filter(o => o.types.includes(type));
  return {
    type,
    ...(profiles.length > 0 ? { supportedProfile: profiles } : {}),
    interaction: [{ code: 'read' }, { code: 'search-type' }],
    versioning: 'no-version',
    readHistory: false,
    updateCreate: false,
    conditionalCreate: false,
    conditionalRead: 'full-support',
    conditionalUpdate: false,
    conditionalDelete: 'not-supported',
    referencePolicy: ['literal'],
    ...(references.length > 0 ? { searchInclude: ['*', ...withAll(type, references)] } : {}),
    ...(reverse.length > 0 ? { searchRevInclude: reverse } : {}),
    ...(offered.length > 0 ? { searchParam: offered.map(searchParamEntry) } : {}),
    ...(own.length > 0 ? { operation: own.map(({ name, definition }) => ({ name, definition })) } : {}),
  };
}

/** Returns the values for `_include`: `Type:*` for all references of the type, then each of them. */
function withAll(type: string, references: readonly Offered[]): readonly string[] {
  return references.length === 0 ? [] : [`${type}:*`, ...references.map(o => `${type}:${o.parameter.code}`)];
}

function searchParamEntry({ parameter }: Offered): object {
  return { name: parameter.code, definition: parameter.url, type: parameter.type };
}

/** Returns the canonical URLs of the profiles that a mapping's resources can claim. */
export function profilesOf(mapping: Mapping): readonly string[] {
  const texts: string[] = [];
  const constants = (node: Node): void => {
    if (node.kind === 'list') node.items.forEach(constants);
    else if (node.kind === 'first') node.alternatives.forEach(constants);
    else if (node.kind === 'constant') {
      for (const item of Array.isArray(node.json) ? node.json : [node.json])
        if (typeof item === 'string') texts.push(item);
    }
  };
  const child = (node: Node, name: string): Node | undefined =>
    node.kind === 'object'
      ? node.members.flatMap(m => (m.kind === 'element' && m.name === name ? [m.node] : []))[0]
      : undefined;
  const meta = child(mapping.root, 'meta');
  if (meta?.kind === 'constant' && meta.json !== null && typeof meta.json === 'object' && !Array.isArray(meta.json)) {
    const { profile } = meta.json as { readonly profile?: unknown };
    if (Array.isArray(profile)) texts.push(...profile.filter(p => typeof p === 'string'));
  }
  const profile = meta && child(meta, 'profile');
  if (profile) constants(profile);
  return texts;
}
