/**
 * Defines the people and organizations of FHIR R4 that documents read.
 * https://hl7.org/fhir/R4/administration-module.html
 */
import type {
  Address,
  Clinical,
  CodeableConcept,
  ContactPoint,
  Extension,
  HumanName,
  Identifier,
  Period,
  Reference,
  Resource,
} from './datatypes.ts';

export interface Patient extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly active?: boolean;
  readonly name?: readonly HumanName[];
  readonly telecom?: readonly ContactPoint[];
  readonly gender?: string;
  readonly birthDate?: string;
  readonly _birthDate?: { readonly extension?: readonly Extension[] };
  readonly deceasedBoolean?: boolean;
  readonly deceasedDateTime?: string;
  readonly address?: readonly Address[];
  readonly maritalStatus?: CodeableConcept;
  readonly multipleBirthBoolean?: boolean;
  readonly multipleBirthInteger?: number;
  readonly communication?: readonly { readonly language?: CodeableConcept; readonly preferred?: boolean }[];
  readonly generalPractitioner?: readonly Reference[];
  readonly managingOrganization?: Reference;
  readonly link?: readonly { readonly other?: Reference; readonly type?: string }[];
}

/** A person with a name and contact details, such as Practitioner and RelatedPerson. */
export interface Person extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly active?: boolean;
  readonly name?: readonly HumanName[];
  readonly telecom?: readonly ContactPoint[];
  readonly address?: readonly Address[];
  readonly qualification?: readonly { readonly code?: CodeableConcept }[];
  readonly relationship?: readonly CodeableConcept[];
}

export interface PractitionerRole extends Resource {
  readonly practitioner?: Reference;
  readonly organization?: Reference;
  readonly code?: readonly CodeableConcept[];
  readonly specialty?: readonly CodeableConcept[];
  readonly telecom?: readonly ContactPoint[];
}

export interface Organization extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly name?: string;
  readonly telecom?: readonly ContactPoint[];
  readonly address?: readonly Address[];
}

export interface Location extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly name?: string;
  readonly type?: readonly CodeableConcept[];
  readonly telecom?: readonly ContactPoint[];
  readonly address?: Address;
}

export interface CareTeam extends Clinical {
  readonly name?: string;
  readonly period?: Period;
  readonly participant?: readonly CareTeamParticipant[];
  readonly managingOrganization?: readonly Reference[];
}

export interface CareTeamParticipant {
  readonly role?: readonly CodeableConcept[];
  readonly member?: Reference;
  readonly period?: Period;
}

export interface Coverage extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly status?: string;
  readonly type?: CodeableConcept;
  readonly subscriberId?: string;
  readonly relationship?: CodeableConcept;
  readonly period?: Period;
  readonly payor?: readonly Reference[];
  readonly order?: number;
  readonly class?: readonly { readonly type?: CodeableConcept; readonly value?: string; readonly name?: string }[];
}
