/**
 * Makes sample requests from what is offered, without any patient's data. In: the CapabilityStatement, or the
 * mappings. Out: the types with their searches, and three addresses, for the start page and for the console at start.
 */

export interface OfferedType {
  readonly type: string;
  readonly profiles: readonly string[];
  /** Names of search parameters, those of all types last. */
  readonly parameters: readonly string[];
  /** The same, each with its type. */
  readonly searches: readonly { readonly name: string; readonly type: string }[];
}

export interface Sample {
  readonly title: string;
  readonly url: string;
}

/** The parts of a CapabilityStatement that are read. https://hl7.org/fhir/R4/capabilitystatement.html */
interface Capabilities {
  readonly rest?: readonly {
    readonly resource?: readonly {
      readonly type: string;
      readonly supportedProfile?: readonly string[];
      readonly searchParam?: readonly { readonly name: string; readonly type: string }[];
    }[];
  }[];
}

/** The parameter that links a clinical resource to its compartment, and the type of the compartment. */
const SUBJECT = { parameter: 'patient', type: 'Patient' } as const;

export function offeredTypes(capabilityStatement: object): readonly OfferedType[] {
  const { rest }: Capabilities = capabilityStatement;
  return (rest?.[0]?.resource ?? []).map(({ type, supportedProfile, searchParam }) => {
    const searches = (searchParam ?? [])
      .map(one => ({ name: one.name, type: one.type }))
      .toSorted((x, y) => Number(x.name[0] === '_') - Number(y.name[0] === '_'));
    return { type, profiles: supportedProfile ?? [], parameters: searches.map(({ name }) => name), searches };
  });
}

/** Input of samples: a registry, and what it offers. */
export interface Mapped {
  readonly registry: { readonly types: readonly string[]; ofType(type: string): readonly unknown[] };
  readonly offers: { find(type: string, code: string): object | undefined };
}

/**
 * Returns up to three samples; fewer if a pack maps little. `base`: of the FHIR interface, without a slash at the end.
 */
export function sampleRequests(base: string, { registry, offers }: Mapped): readonly Sample[] {
  const samples: Sample[] = [];
  const { types } = registry;
  const first = types.includes(SUBJECT.type) ? SUBJECT.type : types[0];
  if (first !== undefined) samples.push({ title: `Two resources of type ${first}`, url: `${base}/${first}?_count=2` });
  const coded = (type: string): number => Number(offers.find(type, 'code') !== undefined);
  // Prefers types with a code, which say something about the patient, then the type with most mappings.
  const [clinical] = types
    .filter(type => type !== first && offers.find(type, SUBJECT.parameter) !== undefined)
    .toSorted((a, b) => coded(b) - coded(a) || registry.ofType(b).length - registry.ofType(a).length);
  if (clinical !== undefined) {
    samples.push({
      title: `Three of type ${clinical}, each with its ${SUBJECT.parameter}`,
      url: `${base}/${clinical}?_count=3&_include=${clinical}:${SUBJECT.parameter}`,
    });
  }
  samples.push({ title: 'Everything this server offers', url: `${base}/metadata` });
  return samples;
}
