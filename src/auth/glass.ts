/**
 * The interface of break-glass for requests: who may see hidden data by giving a reason. src/access/glass.ts
 * implements it by the rules of the pack.
 */
import type { Access } from './access.ts';
import type { Account } from './accounts.ts';
import type { GlassRule } from './rules.ts';
import type { Grant } from './token.ts';

export interface BreakGlass {
  readonly opens: GlassRule['opens'];
  /** Undefined: they may not. Throws what a search throws: an outage lets nobody in. */
  ofGrant(grant: Grant, signal: AbortSignal): Promise<Access | undefined>;
  ofAccount(account: Account, signal: AbortSignal): Promise<Access | undefined>;
}

/** The application that accounts use, as the audit calls it. */
export const REST_CLIENT = 'rest';
