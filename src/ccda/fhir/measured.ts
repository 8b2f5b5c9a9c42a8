/**
 * Defines the observations and reports of FHIR R4 that documents read. https://hl7.org/fhir/R4/diagnostics-module.html
 */
import type {
  Attachment,
  Clinical,
  CodeableConcept,
  Period,
  Quantity,
  Range,
  Reference,
  Resource,
} from './datatypes.ts';

export interface ObservationValue {
  readonly valueQuantity?: Quantity;
  readonly valueCodeableConcept?: CodeableConcept;
  readonly valueString?: string;
  readonly valueBoolean?: boolean;
  readonly valueInteger?: number;
  readonly valueRange?: Range;
  readonly valueRatio?: { readonly numerator?: Quantity; readonly denominator?: Quantity };
  readonly valueTime?: string;
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
  readonly specimen?: Reference;
  readonly referenceRange?: readonly ReferenceRange[];
  readonly component?: readonly Component[];
}

export interface ReferenceRange {
  readonly low?: Quantity;
  readonly high?: Quantity;
  readonly type?: CodeableConcept;
  readonly appliesTo?: readonly CodeableConcept[];
  readonly age?: Range;
  readonly text?: string;
}

export interface Component extends ObservationValue {
  readonly code?: CodeableConcept;
  readonly interpretation?: readonly CodeableConcept[];
  readonly referenceRange?: readonly ReferenceRange[];
}

export interface DiagnosticReport extends Clinical {
  readonly category?: readonly CodeableConcept[];
  readonly effectiveDateTime?: string;
  readonly effectivePeriod?: Period;
  readonly issued?: string;
  readonly performer?: readonly Reference[];
  readonly result?: readonly Reference[];
  readonly conclusion?: string;
  readonly media?: readonly { readonly comment?: string }[];
  readonly presentedForm?: readonly Attachment[];
}

export interface Specimen extends Resource {
  readonly type?: CodeableConcept;
  readonly collection?: { readonly bodySite?: CodeableConcept };
}
