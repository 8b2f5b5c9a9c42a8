/**
 * Makes sample requests from what is offered, without any patient's data. In: the CapabilityStatement, or the
 * mappings. Out: the types with their searches, and three addresses, for the start page and for the console at start.
 */

export interface OfferedType {
  readonly type: string;
  readonly profiles: readonly string[];
  /** Names of search parameters, those of every type last. */
  readonly parameters: readonly string[];
  /** The same with their types of search parameter. */
  readonly searches: readonly { readonly name: string; readonly type: string }[];
}

export interface Sample {
  readonly title: string;
  readonly url: string;
}

/** What is needed of a CapabilityStatement. https://hl7.org/fhir/R4/capabilitystatement.html */
interface Capabilities {
  readonly rest?: readonly {
    readonly resource?: readonly {
      readonly type: string;
      readonly supportedProfile?: readonly string[];
      readonly searchParam?: readonly { readonly name: string; readonly type: string }[];
    }[];
  }[];
}

/** The parameter that leads from a clinical resource to its compartment, whose root has the same name. */
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

/** What samples are made of: a registry, and what it offers. */
export interface Mapped {
  readonly registry: { readonly types: readonly string[]; ofType(type: string): readonly unknown[] };
  readonly offers: { find(type: string, code: string): object | undefined };
}

/** Up to three; fewer where a pack maps little. `base`: of the FHIR interface, without a slash at the end. */
export function sampleRequests(base: string, { registry, offers }: Mapped): readonly Sample[] {
  const samples: Sample[] = [];
  const { types } = registry;
  const first = types.includes(SUBJECT.type) ? SUBJECT.type : types[0];
  if (first !== undefined) samples.push({ title: `Two resources of type ${first}`, url: `${base}/${first}?_count=2` });
  const coded = (type: string): number => Number(offers.find(type, 'code') !== undefined);
  // What has a code says something about the patient; the type with most mappings says most.
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
