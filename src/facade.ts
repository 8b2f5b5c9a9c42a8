/**
 * The pipeline, on one screen: read and search. (Contract first; the stages follow.)
 */
import type { Access } from './auth/access.ts';

/** How a caller wants resources. */
export interface RequestContext {
  readonly access: Access;
  /** Absolute base of the FHIR interface, without a slash at the end; for fullUrl, links and `as: url` references. */
  readonly base: string;
  /** `Prefer: handling`; what a missing header means is the configuration's choice. */
  readonly handling: 'strict' | 'lenient';
  readonly signal?: AbortSignal;
}

/** A resource as FHIR JSON text. */
export interface ResourceText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /** meta.lastUpdated as emitted, where the mapping has it. */
  readonly lastUpdated?: string;
}

export interface SearchRequest {
  readonly type: string;
  /** Names and values, decoded, in the request's order; a POST body's after the URL's. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
}

export interface Facade {
  /** Undefined: no such resource for this caller (404). Throws FhirError `not-found` for an unknown type. */
  read(
    type: string,
    id: string,
    parameters: SearchRequest['parameters'],
    context: RequestContext,
  ): Promise<ResourceText | undefined>;
  /** Throws FhirError. */
  search(request: SearchRequest, context: RequestContext): Promise<BundleText>;
  /** The CapabilityStatement that the mappings really offer. */
  capabilities(context: Pick<RequestContext, 'base'>): object;
}
