/**
 * Lists well-known addresses of code systems and numbering systems, to recognise misspelt ones. In: an address. Out:
 * the known address that it resembles, if any.
 * https://hl7.org/fhir/R4/terminologies-systems.html, https://hl7.org/fhir/R4/identifier-registry.html
 */
import { systemsOfValueSets } from './terminology.ts';

const EXTERNAL: readonly string[] = [
  'http://loinc.org',
  'http://snomed.info/sct',
  'http://www.nlm.nih.gov/research/umls/rxnorm',
  'http://unitsofmeasure.org',
  'http://www.ama-assn.org/go/cpt',
  'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets',
  'http://www.cms.gov/Medicare/Coding/ICD10',
  'http://hl7.org/fhir/ndfrt',
  'http://fdasis.nlm.nih.gov',
  'http://nucc.org/provider-taxonomy',
  'http://www.whocc.no/atc',
  'http://dicom.nema.org/resources/ontology/DCM',
  'http://hl7.org/fhir/sid/ndc',
  'http://hl7.org/fhir/sid/cvx',
  'http://hl7.org/fhir/sid/mvx',
  'http://hl7.org/fhir/sid/icd-9-cm',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://hl7.org/fhir/sid/icpc-2',
  'http://hl7.org/fhir/sid/us-npi',
  'http://hl7.org/fhir/sid/us-ssn',
  'http://hl7.org/fhir/sid/us-medicare',
  'http://hl7.org/fhir/sid/us-mbi',
  'http://terminology.hl7.org/CodeSystem/v2-0203',
  'urn:iso:std:iso:3166',
  'urn:ietf:bcp:47',
  'urn:ietf:bcp:13',
  'urn:ietf:rfc:3986',
];

/**
 * Systems in which no two codes differ by case alone: by their publisher's definition (SNOMED CT, LOINC, RFC 5646, RFC
 * 2045), or because all of their letters have one case (ICD, HCPCS, CPT). https://hl7.org/fhir/R4/search.html#token
 */
export const ANY_CASE_SYSTEMS: readonly string[] = [
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-9-cm',
  'http://www.cms.gov/Medicare/Coding/ICD10',
  'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets',
  'http://www.ama-assn.org/go/cpt',
  'http://loinc.org',
  'http://snomed.info/sct',
  'urn:ietf:bcp:47',
  'urn:ietf:bcp:13',
];

let known: ReadonlySet<string> | undefined;

/** Returns the known address that another one nearly equals; undefined for a known one and for an unrelated one. */
export function misspeltSystem(uri: string): string | undefined {
  known ??= new Set([...EXTERNAL, ...systemsOfValueSets()]);
  if (known.has(uri)) return undefined;
  const bare = bareOf(uri);
  return (
    [...known].find(one => bareOf(one) === bare) ?? EXTERNAL.find(one => one.length > 15 && differsBySlip(uri, one))
  );
}

/** Removes frequent mistakes: http or https, www, a slash at the end, capitals. */
function bareOf(uri: string): string {
  return uri
    .toLowerCase()
    .replace(/^https?:\/\/(www\.)?/, '')
    .replace(/\/+$/, '');
}

/** True if one character was added, removed or replaced, as in a typing error. */
function differsBySlip(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  const rest = long.slice(same + 1);
  return rest === short.slice(same + (long.length === short.length ? 1 : 0));
}
