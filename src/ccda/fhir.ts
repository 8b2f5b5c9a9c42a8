/**
 * The parts of FHIR R4 resources that C-CDA documents are made of. In: JSON text of the pipeline. Out: readonly data; what
 * is not read here is not typed. The value of a Quantity stays the text it was written as: a JSON number would lose the
 * zeros that say how exact a measurement is. https://hl7.org/fhir/R4/datatypes.html
 */

export interface Coding {
  readonly system?: string;
  readonly code?: string;
  readonly display?: string;
}

export interface CodeableConcept {
  readonly coding?: readonly Coding[];
  readonly text?: string;
}

export interface Quantity {
  readonly value?: string;
  readonly comparator?: '<' | '<=' | '>' | '>=';
  readonly unit?: string;
  readonly system?: string;
  readonly code?: string;
}

export interface Range {
  readonly low?: Quantity;
  readonly high?: Quantity;
}

export interface Period {
  readonly start?: string;
  readonly end?: string;
}

export interface Reference {
  readonly reference?: string;
  readonly display?: string;
  readonly identifier?: Identifier;
}

export interface Identifier {
  readonly use?: string;
  readonly type?: CodeableConcept;
  readonly system?: string;
  readonly value?: string;
}

export interface HumanName {
  readonly use?: string;
  readonly text?: string;
  readonly family?: string;
  readonly given?: readonly string[];
  readonly prefix?: readonly string[];
  readonly suffix?: readonly string[];
  readonly period?: Period;
}

export interface Address {
  readonly use?: string;
  readonly text?: string;
  readonly line?: readonly string[];
  readonly city?: string;
  readonly state?: string;
  readonly postalCode?: string;
  readonly country?: string;
  readonly period?: Period;
}

export interface ContactPoint {
  readonly system?: string;
  readonly value?: string;
  readonly use?: string;
}

export interface Annotation {
  readonly text?: string;
}

export interface Extension {
  readonly url: string;
  readonly extension?: readonly Extension[];
  readonly valueCode?: string;
  readonly valueString?: string;
  readonly valueBoolean?: boolean;
  readonly valueDateTime?: string;
  readonly valueCoding?: Coding;
  readonly valueCodeableConcept?: CodeableConcept;
}

export interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly lastUpdated?: string; readonly security?: readonly Coding[] };
  readonly extension?: readonly Extension[];
}

export interface Patient extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly active?: boolean;
  readonly name?: readonly HumanName[];
  readonly telecom?: readonly ContactPoint[];
  readonly gender?: string;
  readonly birthDate?: string;
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

/** Practitioner, RelatedPerson: whoever has a name and can be reached. */
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

/** What clinical resources have in common, under FHIR's own names. */
export interface Clinical extends Resource {
  readonly status?: string;
  readonly identifier?: readonly Identifier[];
  readonly code?: CodeableConcept;
  readonly encounter?: Reference;
  readonly note?: readonly Annotation[];
}

export interface Condition extends Clinical {
  readonly clinicalStatus?: CodeableConcept;
  readonly verificationStatus?: CodeableConcept;
  readonly severity?: CodeableConcept;
  readonly onsetDateTime?: string;
  readonly abatementDateTime?: string;
  readonly recordedDate?: string;
  readonly recorder?: Reference;
}

export interface AllergyIntolerance extends Clinical {
  readonly clinicalStatus?: CodeableConcept;
  readonly verificationStatus?: CodeableConcept;
  readonly type?: string;
  readonly category?: readonly string[];
  readonly criticality?: string;
  readonly onsetDateTime?: string;
  readonly recordedDate?: string;
  readonly recorder?: Reference;
  readonly reaction?: readonly {
    readonly manifestation?: readonly CodeableConcept[];
    readonly severity?: string;
  }[];
}

export interface Dosage {
  readonly text?: string;
  readonly timing?: {
    readonly repeat?: {
      readonly boundsPeriod?: Period;
      readonly frequency?: number;
      readonly period?: number;
      readonly periodUnit?: string;
    };
    readonly code?: CodeableConcept;
  };
  readonly asNeededBoolean?: boolean;
  readonly asNeededCodeableConcept?: CodeableConcept;
  readonly route?: CodeableConcept;
  readonly doseAndRate?: readonly { readonly doseQuantity?: Quantity }[];
}

export interface MedicationRequest extends Clinical {
  readonly intent?: string;
  readonly statusReason?: CodeableConcept;
  readonly reportedBoolean?: boolean;
  readonly reportedReference?: Reference;
  readonly medicationCodeableConcept?: CodeableConcept;
  readonly medicationReference?: Reference;
  readonly authoredOn?: string;
  readonly requester?: Reference;
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
  readonly dosageInstruction?: readonly Dosage[];
  readonly dispenseRequest?: {
    readonly numberOfRepeatsAllowed?: number;
    readonly quantity?: Quantity;
  };
}

export interface Medication extends Resource {
  readonly code?: CodeableConcept;
}

export interface ObservationValue {
  readonly valueQuantity?: Quantity;
  readonly valueCodeableConcept?: CodeableConcept;
  readonly valueString?: string;
  readonly valueBoolean?: boolean;
  readonly valueInteger?: number;
  readonly valueRange?: Range;
  readonly valueDateTime?: string;
  readonly valuePeriod?: Period;
  readonly dataAbsentReason?: CodeableConcept;
}

export interface Observation extends Clinical, ObservationValue {
  readonly category?: readonly CodeableConcept[];
  readonly effectiveDateTime?: string;
  readonly effectivePeriod?: Period;
  readonly issued?: string;
  readonly performer?: readonly Reference[];
  readonly hasMember?: readonly Reference[];
  readonly interpretation?: readonly CodeableConcept[];
  readonly bodySite?: CodeableConcept;
  readonly method?: CodeableConcept;
  readonly referenceRange?: readonly {
    readonly low?: Quantity;
    readonly high?: Quantity;
    readonly text?: string;
  }[];
  readonly component?: readonly (ObservationValue & { readonly code?: CodeableConcept })[];
}

export interface DiagnosticReport extends Clinical {
  readonly category?: readonly CodeableConcept[];
  readonly effectiveDateTime?: string;
  readonly effectivePeriod?: Period;
  readonly issued?: string;
  readonly performer?: readonly Reference[];
  readonly result?: readonly Reference[];
  readonly conclusion?: string;
}

export interface Procedure extends Clinical {
  readonly performedDateTime?: string;
  readonly performedPeriod?: Period;
  readonly performedString?: string;
  readonly performer?: readonly { readonly actor?: Reference }[];
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
  readonly bodySite?: readonly CodeableConcept[];
  readonly focalDevice?: readonly { readonly manipulated?: Reference }[];
}

export interface Immunization extends Clinical {
  readonly statusReason?: CodeableConcept;
  readonly vaccineCode?: CodeableConcept;
  readonly occurrenceDateTime?: string;
  readonly occurrenceString?: string;
  readonly primarySource?: boolean;
  readonly manufacturer?: Reference;
  readonly lotNumber?: string;
  readonly expirationDate?: string;
  readonly site?: CodeableConcept;
  readonly route?: CodeableConcept;
  readonly doseQuantity?: Quantity;
  readonly performer?: readonly { readonly actor?: Reference }[];
  readonly protocolApplied?: readonly { readonly doseNumberPositiveInt?: number }[];
}

export interface Device extends Resource {
  readonly udiCarrier?: readonly {
    readonly deviceIdentifier?: string;
    readonly issuer?: string;
    readonly carrierHRF?: string;
  }[];
  readonly status?: string;
  readonly distinctIdentifier?: string;
  readonly manufacturer?: string;
  readonly manufactureDate?: string;
  readonly expirationDate?: string;
  readonly lotNumber?: string;
  readonly serialNumber?: string;
  readonly modelNumber?: string;
  readonly deviceName?: readonly { readonly name?: string }[];
  readonly type?: CodeableConcept;
}

export interface ServiceRequest extends Clinical {
  readonly intent?: string;
  readonly category?: readonly CodeableConcept[];
  readonly occurrenceDateTime?: string;
  readonly occurrencePeriod?: Period;
  readonly authoredOn?: string;
  readonly requester?: Reference;
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
}

export interface CarePlan extends Clinical {
  readonly text?: { readonly div?: string };
  readonly title?: string;
  readonly description?: string;
  readonly period?: Period;
  readonly created?: string;
  readonly author?: Reference;
}

export interface Goal extends Resource {
  readonly lifecycleStatus?: string;
  readonly achievementStatus?: CodeableConcept;
  readonly description?: CodeableConcept;
  readonly startDate?: string;
  readonly statusDate?: string;
  readonly target?: readonly {
    readonly measure?: CodeableConcept;
    readonly detailQuantity?: Quantity;
    readonly detailString?: string;
    readonly dueDate?: string;
  }[];
  readonly expressedBy?: Reference;
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

export interface Encounter extends Resource {
  readonly identifier?: readonly Identifier[];
  readonly status?: string;
  readonly class?: Coding;
  readonly type?: readonly CodeableConcept[];
  readonly period?: Period;
  readonly participant?: readonly { readonly type?: readonly CodeableConcept[]; readonly individual?: Reference }[];
  readonly reasonCode?: readonly CodeableConcept[];
  readonly reasonReference?: readonly Reference[];
  readonly hospitalization?: { readonly dischargeDisposition?: CodeableConcept };
  readonly location?: readonly { readonly location?: Reference }[];
  readonly serviceProvider?: Reference;
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

/**
 * JSON text of a resource or Bundle, quantities kept as text. A member of that form within a string has its quotation
 * marks escaped, so that the pattern cannot meet it there.
 */
export function parseExactly(json: string): unknown {
  return JSON.parse(json.replace(/"value":(-?\d[\d.eE+-]*)/g, '"value":"$1"'));
}
