/**
 * Defines the orders, plans and goals of FHIR R4 that documents read. https://hl7.org/fhir/R4/careprovision-module.html
 */
import type { Clinical, CodeableConcept, Period, Quantity, Range, Reference, Resource } from './datatypes.ts';

export interface ServiceRequest extends Clinical {
  readonly intent?: string;
  readonly doNotPerform?: boolean;
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
  readonly category?: readonly CodeableConcept[];
  readonly activity?: readonly {
    readonly detail?: { readonly code?: CodeableConcept; readonly description?: string };
  }[];
  readonly addresses?: readonly Reference[];
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
    readonly detailRange?: Range;
    readonly detailCodeableConcept?: CodeableConcept;
    readonly detailString?: string;
    readonly detailBoolean?: boolean;
    readonly detailInteger?: number;
    readonly detailRatio?: { readonly numerator?: Quantity; readonly denominator?: Quantity };
    readonly dueDate?: string;
  }[];
  readonly expressedBy?: Reference;
}
