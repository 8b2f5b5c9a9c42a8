/**
 * Reads accounts of people from a file of names and password hashes, managed by `lintel user`. In: the file. Out: the
 * account with a name, as the file is now. The REST interface and the authorization server share the accounts.
 */
import { codeOf } from '../common/reason.ts';
import { isEra } from './era.ts';
import { fresh, readPrivate, writePrivate } from './private-file.ts';

export interface Account {
  readonly name: string;
  /** PHC string; changes with the password. */
  readonly password: string;
  readonly disabled: boolean;
  /** The FHIR resource that this person is, as a relative reference: `Practitioner/7`. */
  readonly fhirUser?: string;
  /** May log in at the REST interface with its password even if other accounts may not. */
  readonly restPassword?: true;
  /** Sessions and grants of another era have ended (`newEra`). */
  readonly era?: string;
  /** Name on pages; absent: `name`. */
  readonly shown?: string;
}

/** The accounts that login and sessions use. */
export interface Accounts {
  find(name: string): Account | undefined;
}

/** The file does not have the form that `lintel user` writes. */
export class AccountsError extends Error {
  override readonly name = 'AccountsError';
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** True if a text can be the name of an account. */
export function isAccountName(text: string): boolean {
  return NAME.test(text);
}

/** True if a text is a relative reference to one resource. https://hl7.org/fhir/R4/datatypes.html#id */
export function isFhirUser(text: string): boolean {
  return /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9.-]{1,64}$/.test(text);
}

/** Reads all accounts of a file; none if there is no file. Throws AccountsError, or the file system's error. */
export function readAccounts(file: string): readonly Account[] {
  const data = readPrivate(file, () => new AccountsError('The file of accounts is not JSON'));
  if (data === undefined) return [];
  const accounts = (data as { readonly accounts?: unknown } | null)?.accounts;
  if (!Array.isArray(accounts) || !accounts.every(isAccount)) {
    throw new AccountsError('The file of accounts is not in the form that `lintel user` writes');
  }
  return accounts;
}

/**
 * Returns why a file of accounts cannot be read, in words for the server's administrator; undefined if it can. The file
 * is not moved aside: `lintel user` wrote it, and none of its accounts can log in until it is repaired.
 */
export function whyUnreadable(file: string): string | undefined {
  try {
    readAccounts(file);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (!(error instanceof AccountsError) && code === undefined) throw error;
    const why = error instanceof AccountsError ? error.message : `It cannot be read (${code})`;
    return `${file}: ${why}. None of its accounts can log in. Put a copy back, or remove it and make them anew.`;
  }
}

function isAccount(one: unknown): one is Account {
  const account = (one ?? {}) as Readonly<Record<keyof Account, unknown>>;
  const { name, password, disabled, fhirUser, restPassword } = account;
  return (
    typeof name === 'string' &&
    isAccountName(name) &&
    typeof password === 'string' &&
    typeof disabled === 'boolean' &&
    (restPassword === undefined || restPassword === true) &&
    isEra(account.era) &&
    (fhirUser === undefined || (typeof fhirUser === 'string' && isFhirUser(fhirUser)))
  );
}

/** Returns a mark that changes whenever sessions of the account have to end. */
export function sessionMark({ password, era = '' }: Account): string {
  return password + era;
}

/** Replaces the file atomically. */
export function writeAccounts(file: string, accounts: readonly Account[]): void {
  writePrivate(file, { accounts });
}

/** Returns the accounts of a file, which is read again after a change. */
export function accountsOfFile(file: string): Accounts {
  const known = fresh(file, () => new Map(readAccounts(file).map(account => [account.name, account])));
  return { find: name => known().get(name) };
}

/** Hides accounts that do not satisfy a condition. */
export function accountsThat(may: (account: Account) => boolean, accounts: Accounts): Accounts {
  return {
    find(name) {
      const found = accounts.find(name);
      return found !== undefined && may(found) ? found : undefined;
    },
  };
}

/** Returns the accounts of both; if both have a name, that of the first. */
export function joinAccounts(first: Accounts, second: Accounts): Accounts {
  return { find: name => first.find(name) ?? second.find(name) };
}

/** Returns accounts that are in no file. */
export function someAccounts(...accounts: readonly Account[]): Accounts {
  const known = new Map(accounts.map(account => [account.name, account]));
  return { find: name => known.get(name) };
}
