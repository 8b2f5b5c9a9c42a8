/**
 * Translates code systems: FHIR names them by URI, C-CDA by OID. In: a URI. Out: OID and name, or undefined if the
 * system has no registered OID.
 * https://hl7.org/fhir/R4/terminologies-systems.html
 */

export interface CodeSystem {
  readonly oid: string;
  readonly name?: string;
}

export const SNOMED = 'http://snomed.info/sct';
export const LOINC = 'http://loinc.org';
export const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm';
export const CVX = 'http://hl7.org/fhir/sid/cvx';
export const UNII = 'http://fdasis.nlm.nih.gov';
export const CPT = 'http://www.ama-assn.org/go/cpt';
export const HCPCS = 'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets';
export const ICD10PCS = 'http://www.cms.gov/Medicare/Coding/ICD10';
export const CDCREC = 'urn:oid:2.16.840.1.113883.6.238';
export const NUCC = 'http://nucc.org/provider-taxonomy';
export const UCUM = 'http://unitsofmeasure.org';
export const NPI = 'http://hl7.org/fhir/sid/us-npi';
export const NULL_FLAVOR = 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor';
export const DATA_ABSENT = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';
export const INTERPRETATION = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
export const ACT_REASON = 'http://terminology.hl7.org/CodeSystem/v3-ActReason';
export const UB04_STATUS = 'https://www.nubc.org/CodeSystem/PatDischargeStatus';
const MVX = 'http://hl7.org/fhir/sid/mvx';

export const SNOMED_OID = '2.16.840.1.113883.6.96';
export const LOINC_OID = '2.16.840.1.113883.6.1';

const KNOWN: Readonly<Record<string, CodeSystem>> = {
  [SNOMED]: { oid: SNOMED_OID, name: 'SNOMED CT' },
  [LOINC]: { oid: LOINC_OID, name: 'LOINC' },
  [RXNORM]: { oid: '2.16.840.1.113883.6.88', name: 'RxNorm' },
  [CVX]: { oid: '2.16.840.1.113883.12.292', name: 'CVX' },
  [MVX]: { oid: '2.16.840.1.113883.12.227', name: 'MVX' },
  [UNII]: { oid: '2.16.840.1.113883.4.9', name: 'UNII' },
  [CPT]: { oid: '2.16.840.1.113883.6.12', name: 'CPT' },
  [HCPCS]: { oid: '2.16.840.1.113883.6.285', name: 'HCPCS' },
  [ICD10PCS]: { oid: '2.16.840.1.113883.6.4', name: 'ICD-10-PCS' },
  'http://hl7.org/fhir/sid/icd-10-cm': { oid: '2.16.840.1.113883.6.90', name: 'ICD-10-CM' },
  'http://hl7.org/fhir/sid/icd-9-cm': { oid: '2.16.840.1.113883.6.103', name: 'ICD-9-CM' },
  'http://hl7.org/fhir/sid/ndc': { oid: '2.16.840.1.113883.6.69', name: 'NDC' },
  'http://hl7.org/fhir/ndfrt': { oid: '2.16.840.1.113883.3.26.1.5', name: 'NDF-RT' },
  [CDCREC]: { oid: '2.16.840.1.113883.6.238', name: 'CDC Race and Ethnicity' },
  [NUCC]: { oid: '2.16.840.1.113883.6.101', name: 'NUCC Provider Taxonomy' },
  [UB04_STATUS]: { oid: '2.16.840.1.113883.6.301.5', name: 'NUBC UB-04 FL17' },
  'https://nahdo.org/sopt': { oid: '2.16.840.1.113883.3.221.5', name: 'Source of Payment Typology' },
  [INTERPRETATION]: { oid: '2.16.840.1.113883.5.83', name: 'ObservationInterpretation' },
  [ACT_REASON]: { oid: '2.16.840.1.113883.5.8', name: 'ActReason' },
  'http://terminology.hl7.org/CodeSystem/v3-ActCode': { oid: '2.16.840.1.113883.5.4', name: 'ActCode' },
  'http://terminology.hl7.org/CodeSystem/v3-RoleCode': { oid: '2.16.840.1.113883.5.111', name: 'RoleCode' },
  'http://terminology.hl7.org/CodeSystem/v3-ParticipationType': {
    oid: '2.16.840.1.113883.5.90',
    name: 'ParticipationType',
  },
  'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus': { oid: '2.16.840.1.113883.5.2', name: 'MaritalStatus' },
  'http://terminology.hl7.org/CodeSystem/v3-ActSite': { oid: '2.16.840.1.113883.5.1052', name: 'ActSite' },
  'http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration': {
    oid: '2.16.840.1.113883.5.112',
    name: 'RouteOfAdministration',
  },
  'http://terminology.hl7.org/CodeSystem/v3-orderableDrugForm': {
    oid: '2.16.840.1.113883.5.85',
    name: 'OrderableDrugForm',
  },
  'http://terminology.hl7.org/CodeSystem/v3-TribalEntityUS': { oid: '2.16.840.1.113883.5.140', name: 'TribalEntityUS' },
};

/** Returns the code system if an OID can name it: a known system, or one whose URI is an OID. */
export function codeSystemOf(uri: string | undefined): CodeSystem | undefined {
  if (uri === undefined) return undefined;
  const known = KNOWN[uri];
  if (known) return known;
  const oid = oidOf(uri);
  return oid === undefined ? undefined : { oid };
}

/** Identifier systems to which HL7 gives an OID. https://hl7.org/fhir/R4/identifier-registry.html */
const IDENTIFIERS: Readonly<Record<string, string>> = {
  [NPI]: '2.16.840.1.113883.4.6',
  'http://hl7.org/fhir/sid/us-ssn': '2.16.840.1.113883.4.1',
  'http://hl7.org/fhir/sid/us-mbi': '2.16.840.1.113883.4.927',
};

/** Returns the root of an identifier system: an OID or a UUID, from the table or from its URI. */
export function rootOf(uri: string | undefined): string | undefined {
  const known = IDENTIFIERS[uri ?? ''];
  if (known !== undefined) return known;
  const uuid = /^urn:uuid:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i.exec(uri ?? '')?.[1];
  return uuid ?? oidOf(uri ?? '');
}

function oidOf(uri: string): string | undefined {
  return /^urn:oid:([0-2](?:\.(?:0|[1-9]\d*))+)$/.exec(uri)?.[1];
}
