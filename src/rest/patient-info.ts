/**
 * Shows a patient as plain JSON. In: the mapped Patient. Out: name, date of birth, sex and the other personal data that
 * the mapping has, without unknown values.
 */
import { labelOf } from '../ccda/code.ts';
import type { Address, CodeableConcept, ContactPoint, Extension, Reference } from '../ccda/fhir/datatypes.ts';
import type { Organization, Patient, Person } from '../ccda/fhir/people.ts';
import { recordNumber } from '../ccda/ids.ts';
import { readableAddress, readableName } from '../ccda/people.ts';
import type { RequestContext } from '../facade.ts';
import { type RestSource, searchSome } from './fhir-source.ts';

export interface PatientSummary {
  readonly patientId: number;
  readonly mrn?: string;
  readonly name: string;
  readonly firstName?: string;
  readonly middleName?: string;
  readonly lastName?: string;
  readonly suffix?: string;
  readonly dob?: string;
  /** `M`, `F`, or else the FHIR code. */
  readonly sex?: string;
  readonly phone?: string;
  readonly address?: string;
}

const SEXES: Readonly<Record<string, string>> = { male: 'M', female: 'F' };

/** Returns the identifying data, for lists. `mrn`: the systems of medical record numbers. */
export function patientSummary(patient: Patient, patientId: number, mrn: readonly string[]): PatientSummary {
  const name = patient.name?.find(({ use }) => use === 'official') ?? patient.name?.[0];
  const [firstName, ...middle] = name?.given ?? [];
  return defined({
    patientId,
    mrn: recordNumber(patient.identifier, mrn),
    name: readableName(name),
    firstName,
    middleName: middle.length === 0 ? undefined : middle.join(' '),
    lastName: name?.family,
    suffix: name?.suffix?.join(' '),
    dob: patient.birthDate,
    sex: SEXES[patient.gender ?? ''] ?? patient.gender,
    phone: patient.telecom?.find(({ system }) => system === 'phone')?.value,
    address: readableAddress(patient.address?.find(({ use }) => use !== 'old')) || undefined,
  });
}

/** Reads the patient with a logical id; undefined: there is none. `context`: access to the patient's compartment. */
export async function readPatient(
  id: string,
  patientId: number,
  source: RestSource,
  context: RequestContext,
): Promise<object | undefined> {
  const byId = async <T>(type: string, wanted: string): Promise<T | undefined> =>
    (await searchSome<T>(source, type, { parameters: [['_id', wanted]] }, 1, context)).resources[0];
  const patient = await byId<Patient>('Patient', id);
  if (patient === undefined) return undefined;
  const follow = async <T>(reference: Reference | undefined): Promise<T | undefined> => {
    const [type = '', wanted] = reference?.reference?.split('/') ?? [];
    return wanted === undefined || !source.facade.offers.types.includes(type) ? undefined : byId<T>(type, wanted);
  };
  const doctor = await follow<Person>(patient.generalPractitioner?.[0]);
  const facility = await follow<Organization>(patient.managingOrganization);
  return patientInfo(patient, patientId, source.content.mrn, {
    practitioner: readableName(doctor?.name?.[0]) || undefined,
    organization: facility?.name,
  });
}

/** Returns all personal data. `practitioner`, `organization`: names of the doctor and the facility. */
function patientInfo(
  patient: Patient,
  patientId: number,
  mrn: readonly string[],
  names: { readonly practitioner?: string | undefined; readonly organization?: string | undefined },
): object {
  const official = patient.name?.find(({ use }) => use === 'official') ?? patient.name?.[0];
  const others = (patient.name ?? []).filter(name => name !== official);
  const { phone: _phone, address: _address, ...summary } = patientSummary(patient, patientId, mrn);
  return defined({
    ...summary,
    otherNames: some(others.map(name => defined({ use: name.use, name: readableName(name) }))),
    gender: patient.gender,
    birthSex: extension(patient, 'us-core-birthsex')?.valueCode,
    genderIdentity: text(extension(patient, 'us-core-genderIdentity')?.valueCodeableConcept),
    race: part(patient, 'us-core-race', 'text')?.valueString,
    ethnicity: part(patient, 'us-core-ethnicity', 'text')?.valueString,
    tribalAffiliation: text(part(patient, 'us-core-tribal-affiliation', 'tribalAffiliation')?.valueCodeableConcept),
    maritalStatus: text(patient.maritalStatus),
    preferredLanguage: text(patient.communication?.find(({ preferred }) => preferred !== false)?.language),
    interpreterRequired: patient.extension?.find(({ url }) => url.endsWith('/patient-interpreterRequired'))
      ?.valueBoolean,
    deceased: patient.deceasedDateTime ?? (patient.deceasedBoolean === true ? true : undefined),
    multipleBirth: patient.multipleBirthInteger ?? patient.multipleBirthBoolean,
    active: patient.active,
    telecom: some((patient.telecom ?? []).map(telecom)),
    addresses: some((patient.address ?? []).map(address)),
    identifiers: some(
      (patient.identifier ?? []).map(({ type, system, value }) => defined({ type: text(type), system, value })),
    ),
    primaryCareProvider: names.practitioner,
    facility: names.organization,
  });
}

function telecom({ system, value, use }: ContactPoint): object {
  return defined({ system, value, use });
}

function address({ use, line, city, state, postalCode, country, period }: Address): object {
  return defined({ use, line, city, state, postalCode, country, period });
}

function extension({ extension: all }: Patient, name: string): Extension | undefined {
  return all?.find(({ url }) => url === `http://hl7.org/fhir/us/core/StructureDefinition/${name}`);
}

function part(patient: Patient, name: string, url: string): Extension | undefined {
  return extension(patient, name)?.extension?.find(one => one.url === url);
}

function text(concept: CodeableConcept | undefined): string | undefined {
  return labelOf(concept) || undefined;
}

function some<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes the members that are undefined. */
function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}
