/**
 * Defines the data types of FHIR R4 that documents read. The value of a Quantity is a string: a JSON number would lose
 * trailing zeros, which show the precision of a measurement. https://hl7.org/fhir/R4/datatypes.html
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

export interface Attachment extends ReadContent {
  readonly contentType?: string;
  /** Base64. */
  readonly data?: string;
  readonly url?: string;
  readonly title?: string;
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
  /** Present if the type has it. */
  readonly note?: readonly Annotation[];
}

/** Elements that clinical resources share, under FHIR's own names. */
export interface Clinical extends Resource {
  readonly status?: string;
  readonly identifier?: readonly Identifier[];
  readonly code?: CodeableConcept;
  readonly encounter?: Reference;
}

/** https://hl7.org/fhir/R4/binary.html */
export interface Binary extends Resource, ReadContent {
  readonly contentType?: string;
  readonly data?: string;
}

/** What is kept of a large `data` (src/ccda/attachment.ts). */
export interface ReadContent {
  /** Bytes of the content. */
  readonly bytes?: number;
  /** Its readable text, unless there is none or it is too long to be shown. */
  readonly text?: string;
}

/** https://hl7.org/fhir/R4/documentreference.html */
export interface DocumentReference extends Resource {
  readonly status?: string;
  readonly type?: CodeableConcept;
  readonly date?: string;
  readonly author?: readonly Reference[];
  readonly custodian?: Reference;
  readonly description?: string;
  readonly content?: readonly { readonly attachment?: Attachment }[];
  readonly context?: { readonly encounter?: readonly Reference[]; readonly period?: Period };
}
