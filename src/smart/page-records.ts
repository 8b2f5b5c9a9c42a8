/**
 * Makes audit records for the pages of the authorization server: who logged in or failed to, what a person allowed an
 * app and ended, and whom a page showed. docs/audit.md
 */
import { randomUUID } from 'node:crypto';
import { type AuditRecord, NOBODY } from '../audit/record.ts';
import type { Account } from '../auth/accounts.ts';

export interface Happened {
  /** The person; a string: the name of an account to which a login failed. */
  readonly who: Account | string | undefined;
  /** Address of the peer. */
  readonly address: string;
  /** Host name of this server. */
  readonly server: string;
  readonly interaction: 'operation' | 'search-type';
  /** As in the log. */
  readonly route: string;
  /** HTTP status. */
  readonly status: number;
  readonly query: string;
  /** Logical ids. */
  readonly patients: readonly string[];
}

/** Returns the record. Pages are for a person who has logged in, not for an application. */
export function recordOfPage({ who, ...happened }: Happened): AuditRecord {
  return { at: Date.now(), request: randomUUID(), who: callerOf(who), ...happened };
}

function callerOf(who: Happened['who']): AuditRecord['who'] {
  if (who === undefined) return { client: NOBODY };
  if (typeof who === 'string') return { client: NOBODY, subject: who };
  const { name, fhirUser } = who;
  return { client: 'login', subject: name, ...(fhirUser !== undefined && { user: fhirUser }) };
}
