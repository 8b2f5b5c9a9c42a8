/**
 * Defines the conditions, medications and procedures of FHIR R4 that documents read.
 * https://hl7.org/fhir/R4/clinicalsummary-module.html
 */

import type { When } from '../when.ts';
import type {
  Annotation,
  Clinical,
  CodeableConcept,
  Coding,
  Identifier,
  Period,
  Quantity,
  Range,
  Reference,
  Resource,
} from './datatypes.ts';

export interface Condition extends Clinical, When<'onset'>, When<'abatement'> {
  readonly clinicalStatus?: CodeableConcept;
  readonly verificationStatus?: CodeableConcept;
  readonly severity?: CodeableConcept;
  readonly recordedDate?: string;
  readonly recorder?: Reference;
}

export interface AllergyIntolerance extends Clinical, When<'onset'> {
  readonly clinicalStatus?: CodeableConcept;
  readonly verificationStatus?: CodeableConcept;
  readonly type?: string;
  readonly category?: readonly string[];
  readonly criticality?: string;
  readonly recordedDate?: string;
  readonly recorder?: Reference;
  readonly reaction?: readonly {
    readonly manifestation?: readonly CodeableConcept[];
    readonly severity?: string;
    readonly description?: string;
    readonly note?: readonly Annotation[];
  }[];
}

/** https://hl7.org/fhir/R4/datatypes.html#Timing */
export interface Repeat {
  readonly boundsPeriod?: Period;
  readonly boundsDuration?: Quantity;
  readonly boundsRange?: Range;
  readonly count?: number;
  readonly countMax?: number;
  readonly duration?: number | string;
  readonly durationMax?: number | string;
  readonly durationUnit?: string;
  readonly frequency?: number;
  readonly frequencyMax?: number;
  readonly period?: number | string;
  readonly periodMax?: number | string;
  readonly periodUnit?: string;
  readonly dayOfWeek?: readonly string[];
  readonly timeOfDay?: readonly string[];
  readonly when?: readonly string[];
}

/** https://hl7.org/fhir/R4/dosage.html */
export interface Dosage {
  readonly text?: string;
  readonly patientInstruction?: string;
  readonly additionalInstruction?: readonly CodeableConcept[];
  readonly timing?: {
    readonly event?: readonly string[];
    readonly repeat?: Repeat;
    readonly code?: CodeableConcept;
  };
  readonly asNeededBoolean?: boolean;
  readonly asNeededCodeableConcept?: CodeableConcept;
  readonly route?: CodeableConcept;
  readonly site?: CodeableConcept;
  readonly method?: CodeableConcept;
  readonly doseAndRate?: readonly {
    readonly doseQuantity?: Quantity;
    readonly doseRange?: Range;
    readonly rateQuantity?: Quantity;
    readonly rateRange?: Range;
    readonly rateRatio?: { readonly numerator?: Quantity; readonly denominator?: Quantity };
  }[];
}

export interface MedicationRequest extends Clinical {
  readonly intent?: string;
  readonly doNotPerform?: boolean;
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

export interface Procedure extends Clinical, When<'performed'> {
  readonly statusReason?: CodeableConcept;
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
