/**
 * Login. In: a name, a password, the address it comes from. Out: the account, or how long to wait, or that it was wrong:
 * the same answer after the same work whether the account is unknown, disabled or another's.
 */
import type { Account, Accounts } from './accounts.ts';
import { fitsPassword, LONGEST_PASSWORD, NO_PASSWORD } from './password.ts';
import { createThrottle } from './throttle.ts';

export type LoginResult =
  | { readonly kind: 'in'; readonly account: Account }
  | { readonly kind: 'wrong' }
  /** Seconds. */
  | { readonly kind: 'wait'; readonly seconds: number };

export interface Login {
  try(name: string, password: string, address: string): Promise<LoginResult>;
}

const SECOND = 1000;
const PER_ACCOUNT = { free: 5, first: SECOND, longest: 15 * 60 * SECOND, keys: 10_000 } as const;
/** Behind a proxy all clients have one address: it slows down guessing through many accounts and locks nobody out for long. */
const PER_ADDRESS = { free: 50, first: SECOND, longest: 60 * SECOND, keys: 10_000 } as const;

/** `clock`: milliseconds since the epoch. */
export function createLogin(accounts: Accounts, clock: () => number = Date.now): Login {
  const byAccount = createThrottle(PER_ACCOUNT, clock);
  const byAddress = createThrottle(PER_ADDRESS, clock);
  return {
    async try(name, password, address) {
      // Names are counted whether they are there or not, or the wait would tell.
      const wait = Math.max(byAddress.begin(address), byAccount.begin(name));
      if (wait > 0) return { kind: 'wait', seconds: Math.ceil(wait / SECOND) };
      const account = accounts.find(name);
      const fits = await fitsPassword(password.slice(0, LONGEST_PASSWORD), account?.password ?? NO_PASSWORD);
      if (!fits || account === undefined || account.disabled || password.length > LONGEST_PASSWORD)
        return { kind: 'wrong' };
      byAccount.forgive(name);
      byAddress.undo(address);
      return { kind: 'in', account };
    },
  };
}
