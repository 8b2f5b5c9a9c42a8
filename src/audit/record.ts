/**
 * The record of one answer in the audit: who asked, for what, with which outcome, and whose data went out. It becomes
 * one AuditEvent for each of these patients, or a single one if there are none.
 * docs/audit.md; https://profiles.ihe.net/ITI/BALP
 */

/** Who asked. */
export interface Who {
  /** The application, by its `client_id`; of an open server or a session the way in: `open`, `rest`. */
  readonly client: string;
  /** The person, as the issuer names them; absent where an application acts for itself. */
  readonly subject?: string;
  /** Who vouches for the subject: an address. */
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

/** No request: somebody changed at the console who may log in, or what may ask. */
export const ADMINISTRATION = 'administration';

export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** X-Request-Id of the answer; the requests of a batch share it. */
  readonly request: string;
  readonly who: Who;
  /** Address of the peer; behind a proxy the proxy's. */
  readonly address: string;
  /** Host name of this server as the client addressed it. */
  readonly server: string;
  readonly interaction: Interaction;
  /** The pattern of the route, as in the log. */
  readonly route: string;
  /** HTTP status. */
  readonly status: number;
  /** The request as it came: method, address behind the server, and the parameters of a body. */
  readonly query: string;
  /** Of a read: what was asked for, `Type/id`. */
  readonly resource?: string;
  /** Logical ids of those whose data is in the answer. */
  readonly patients: readonly string[];
  /** The answer is a file that may hold any patient's data, so that nobody is listed. */
  readonly bulk?: true;
  /** Why the caller asked to see what is hidden: break-glass, whether it was allowed or not. */
  readonly glass?: string;
  /** The answer was kept from an earlier request. */
  readonly kept?: true;
  /** Answers that this record stands for. Default: 1. */
  readonly count?: number;
}

/** The client of a caller who gave no good token and has no session. */
export const NOBODY = 'nobody';

/** Whether nothing is known of who asked. A client may be called as it likes, but somebody vouches for it. */
export function isUnknown({ who }: Pick<AuditRecord, 'who'>): boolean {
  return who.client === NOBODY && who.issuer === undefined;
}

/**
 * 0: success; 4: refused, or nothing there; 8: a failure of the server.
 * https://hl7.org/fhir/R4/codesystem-audit-event-outcome.html
 */
export function outcomeOf(status: number): '0' | '4' | '8' {
  return status < 400 ? '0' : status < 500 ? '4' : '8';
}
