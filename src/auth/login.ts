/**
 * Checks logins. In: a name, a password, the client's address. Out: the account, how long to wait, or failure. An
 * unknown or disabled account and a wrong password take the same work and give the same answer.
 */
import { type Account, type Accounts, isAccountName } from './accounts.ts';
import { fitsPassword, LONGEST_PASSWORD, NO_PASSWORD } from './password.ts';
import { createThrottle, networkOf } from './throttle.ts';

export type LoginResult =
  | { readonly kind: 'in'; readonly account: Account }
  | { readonly kind: 'wrong' }
  /** Seconds to wait. */
  | { readonly kind: 'wait'; readonly seconds: number };

export interface Login {
  /** Tries to log in. `may`: accounts that do not satisfy it count as unknown. */
  try(name: string, password: string, address: string, may?: (account: Account) => boolean): Promise<LoginResult>;
  /** Returns the name if an account has it, for the audit: any other text may be a password in the wrong field. */
  known(name: string): string | undefined;
}

const SECOND = 1000;
const PER_ACCOUNT = { free: 5, first: SECOND, longest: 15 * 60 * SECOND, keys: 10_000 } as const;
/**
 * Behind a proxy all clients have one address: this slows down guessing across many accounts, and locks nobody out for
 * long.
 */
const PER_ADDRESS = { free: 50, first: SECOND, longest: 60 * SECOND, keys: 10_000 } as const;
/** Maximum number of remembered pairs of account and address that have logged in; the earliest are forgotten. */
const PROVEN = 10_000;
/** Passwords that are hashed at the same time, each with a thread and 19 MB; attempts that may wait for that. */
const AT_ONCE = 2;
const WAITING = 200;

/** Makes the check of logins. `clock`: milliseconds of a monotonic clock. `fits`: compares a password with a hash. */
export function createLogin(
  accounts: Accounts,
  clock: () => number = () => performance.now(),
  fits: typeof fitsPassword = fitsPassword,
): Login {
  const byAccount = createThrottle(PER_ACCOUNT, clock);
  // Separate, so that invented names cannot evict the failures of actual accounts.
  const byInvention = createThrottle(PER_ACCOUNT, clock);
  const byAddress = createThrottle(PER_ADDRESS, clock);
  const proven = new Set<string>();
  const enter = createTimeSlices(AT_ONCE, WAITING);

  const prove = (pair: string): void => {
    proven.delete(pair);
    proven.add(pair);
    for (const earliest of proven) {
      if (proven.size <= PROVEN) break;
      proven.delete(earliest);
    }
  };

  return {
    known: name => (isAccountName(name) ? accounts.find(name)?.name : undefined),
    async try(name, password, address, may = () => true) {
      const network = networkOf(address);
      // A text that cannot be a name belongs to nobody, and is not stored.
      const named = isAccountName(name);
      const found = named ? accounts.find(name) : undefined;
      const account = found !== undefined && may(found) ? found : undefined;
      const pair = `${network} ${name}`;
      // A client that logged in from there before is not locked out by the attempts of others, from there or elsewhere.
      const isProven = named && proven.has(pair);
      const own = isProven ? pair : name;
      const ofNames = account === undefined ? byInvention : byAccount;
      // Names count whether or not an account has them; otherwise the wait would reveal it.
      const wait = Math.max(isProven ? 0 : byAddress.waitOf(network), named ? ofNames.waitOf(own) : 0);
      if (wait > 0) return { kind: 'wait', seconds: Math.ceil(wait / SECOND) };
      const turn = enter();
      if (turn === undefined) return { kind: 'wait', seconds: 1 };
      // A client with an old password tries again and again: for its address, that counts as one account.
      const isFirst = !named || ofNames.failures(own) === 0;
      if (isFirst) byAddress.begin(network);
      if (named) ofNames.begin(own);
      const leave = await turn;
      try {
        const isRight = await fits(password.slice(0, LONGEST_PASSWORD), account?.password ?? NO_PASSWORD);
        if (!isRight || account === undefined || account.disabled || password.length > LONGEST_PASSWORD)
          return { kind: 'wrong' };
      } finally {
        leave();
      }
      byAccount.forgive(own);
      if (isFirst) byAddress.undo(network);
      prove(pair);
      return { kind: 'in', account };
    },
  };
}

/**
 * Limits parallel work to `atOnce`, with a queue of `waiting`; `undefined`: the queue is full. Resolves to a function
 * that ends the turn.
 */
function createTimeSlices(atOnce: number, waiting: number): () => Promise<() => void> | undefined {
  const queue: (() => void)[] = [];
  let taken = 0;
  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) taken--;
    else next();
  };
  return () => {
    if (taken < atOnce) {
      taken++;
      return Promise.resolve(leave);
    }
    if (queue.length >= waiting) return undefined;
    return new Promise(resolve => queue.push(() => resolve(leave)));
  };
}
