/**
 * Requests to try, made of what is really offered and without any patient's data. In: the CapabilityStatement. Out: the
 * types with what can be asked of each, and three addresses, for the page at `/` and for the console at start.
 */

export interface OfferedType {
  readonly type: string;
  readonly profiles: readonly string[];
  /** Names of search parameters, those of every type last. */
  readonly parameters: readonly string[];
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
      readonly searchParam?: readonly { readonly name: string }[];
    }[];
  }[];
}

/** The parameter that leads from a clinical resource to its compartment, whose root has the same name. */
const SUBJECT = { parameter: 'patient', type: 'Patient' } as const;

export function offeredTypes(capabilityStatement: object): readonly OfferedType[] {
  const { rest }: Capabilities = capabilityStatement;
  return (rest?.[0]?.resource ?? []).map(({ type, supportedProfile, searchParam }) => ({
    type,
    profiles: supportedProfile ?? [],
    parameters: (searchParam ?? [])
      .map(({ name }) => name)
      .toSorted((a, b) => Number(a[0] === '_') - Number(b[0] === '_')),
  }));
}

/** Up to three; fewer where a pack maps little. `base`: of the FHIR interface, without a slash at the end. */
export function sampleRequests(base: string, types: readonly OfferedType[]): readonly Sample[] {
  const samples: Sample[] = [];
  const first = types.find(({ type }) => type === SUBJECT.type) ?? types[0];
  if (first !== undefined) {
    samples.push({ title: `Two resources of type ${first.type}`, url: `${base}/${first.type}?_count=2` });
  }
  const clinical = types
    .filter(({ type, parameters }) => type !== first?.type && parameters.includes(SUBJECT.parameter))
    .toSorted((a, b) => b.parameters.length - a.parameters.length)[0];
  if (clinical !== undefined) {
    const { type } = clinical;
    samples.push({
      title: `Three of type ${type}, each with its ${SUBJECT.parameter}`,
      url: `${base}/${type}?_count=3&_include=${type}:${SUBJECT.parameter}`,
    });
  }
  samples.push({ title: 'Everything this server offers', url: `${base}/metadata` });
  return samples;
}

/** The same address, indented JSON whatever a browser prefers. */
export function readable(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}_format=json&_pretty=true`;
}
