/**
 * Declares the interface of break-glass: who may see hidden data by giving a reason. src/access/glass.ts implements it
 * by the rules of the pack.
 */
import type { Access } from './access.ts';
import type { Account } from './accounts.ts';
import type { GlassRule } from './rules.ts';
import type { Grant } from './token.ts';

export interface BreakGlass {
  readonly opens: GlassRule['opens'];
  /**
   * Returns the wider access; undefined if they may not break the glass. Throws the errors of a search: an outage lets
   * nobody in.
   */
  ofGrant(grant: Grant, signal: AbortSignal): Promise<Access | undefined>;
  ofAccount(account: Account, signal: AbortSignal): Promise<Access | undefined>;
}

/** The application that accounts use, as the audit names it. */
export const REST_CLIENT = 'rest';
