/**
 * Declares the record of one answer in the audit: who asked, for what, with which outcome, and whose data was sent. It
 * becomes one AuditEvent for each of these patients, or a single one if there are none. docs/audit.md;
 * https://profiles.ihe.net/ITI/BALP
 */

/** The caller. */
export interface Who {
  /** The application, by its `client_id`; for an open server or a session, `open` or `rest`. */
  readonly client: string;
  /** The person, as named by the issuer; absent if an application acts for itself. */
  readonly subject?: string;
  /** URL of the issuer that vouches for the subject. */
  readonly issuer?: string;
  /** Relative reference: `Practitioner/7`. */
  readonly user?: string;
  /** Purpose of use, as a code: `TREAT`. */
  readonly purpose?: string;
}

/** Kinds of requests. https://hl7.org/fhir/R4/codesystem-restful-interaction.html */
export type Interaction =
  | 'read'
  | 'vread'
  | 'search-type'
  | 'search-system'
  | 'history-instance'
  | 'operation'
  | 'batch'
  | typeof ADMINISTRATION;

/** Not a request: a change at the console of who may log in, or which app may request tokens. */
export const ADMINISTRATION = 'administration';

export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** X-Request-Id of the answer; the requests of a batch share it. */
  readonly request: string;
  readonly who: Who;
  /** Address of the peer; behind a proxy it is the proxy's. */
  readonly address: string;
  /** Host name of this server as the client addressed it. */
  readonly server: string;
  readonly interaction: Interaction;
  /** The pattern of the route, as in the log. */
  readonly route: string;
  /** HTTP status. */
  readonly status: number;
  /** The request as it was sent: method, path and query, and the parameters of a body. */
  readonly query: string;
  /** For a read: the requested resource, `Type/id`. */
  readonly resource?: string;
  /** Logical ids of the patients whose data is in the answer. */
  readonly patients: readonly string[];
  /** The answer is an export file, which may hold any patient's data if `patients` is empty. */
  readonly bulk?: true;
  /** The caller's reason for break-glass, whether it was allowed or not. */
  readonly glass?: string;
  /** The answer came from the cache. */
  readonly kept?: true;
  /** Number of answers that this record stands for. Default: 1. */
  readonly count?: number;
}

/** The client of a caller without a valid token or session. */
export const NOBODY = 'nobody';

/** True if nothing is known about the caller. A client may have any name, but an issuer vouches for it. */
export function isUnknown({ who }: Pick<AuditRecord, 'who'>): boolean {
  return who.client === NOBODY && who.issuer === undefined;
}

/**
 * Returns 0: success; 4: refused, or nothing there; 8: a failure of the server.
 * https://hl7.org/fhir/R4/codesystem-audit-event-outcome.html
 */
export function outcomeOf(status: number): '0' | '4' | '8' {
  return status < 400 ? '0' : status < 500 ? '4' : '8';
}
