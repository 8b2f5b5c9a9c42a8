/**
 * Records of the audit for the pages of the authorization server: who logged in or failed to, what a person allowed an
 * app and ended, and whom a page showed. docs/audit.md
 */
import { randomUUID } from 'node:crypto';
import { type AuditRecord, NOBODY } from '../audit/record.ts';
import type { Account } from '../auth/accounts.ts';

export interface Happened {
  /** Who did it; a name alone: of an account that somebody tried and did not get into. */
  readonly who: Account | string | undefined;
  /** Of the peer. */
  readonly address: string;
  /** Host name of this server. */
  readonly server: string;
  readonly interaction: 'operation' | 'search-type';
  /** As the log has it. */
  readonly route: string;
  /** HTTP status. */
  readonly status: number;
  readonly query: string;
  /** Logical ids. */
  readonly patients: readonly string[];
}

/** Pages are answered for a person who has logged in, and for no application. */
export function recordOfPage({ who, ...happened }: Happened): AuditRecord {
  return { at: Date.now(), request: randomUUID(), who: callerOf(who), ...happened };
}

function callerOf(who: Happened['who']): AuditRecord['who'] {
  if (who === undefined) return { client: NOBODY };
  if (typeof who === 'string') return { client: NOBODY, subject: who };
  const { name, fhirUser } = who;
  return { client: 'login', subject: name, ...(fhirUser !== undefined && { user: fhirUser }) };
}
