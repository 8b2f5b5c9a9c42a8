/**
 * Reads accounts of people: a file of names and password hashes, managed by `lintel user`. In: the file. Out: the
 * account of a name, as the file is now. The REST interface and the authorization server share the accounts.
 */
import { isEra } from './era.ts';
import { fresh, readPrivate, writePrivate } from './private-file.ts';

export interface Account {
  readonly name: string;
  /** PHC string; changes with the password. */
  readonly password: string;
  readonly disabled: boolean;
  /** The FHIR resource that this person is, as a relative reference: `Practitioner/7`. */
  readonly fhirUser?: string;
  /** Logs in at the REST interface by its password where others may not. */
  readonly restPassword?: true;
  /** Sessions and grants of another era have ended (`newEra`). */
  readonly era?: string;
  /** What pages call them; absent: their name. */
  readonly shown?: string;
}

/** What login and sessions ask. */
export interface Accounts {
  find(name: string): Account | undefined;
}

/** The file is not what `lintel user` writes. */
export class AccountsError extends Error {
  override readonly name = 'AccountsError';
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** Whether a text can be the name of an account. */
export function isAccountName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a text is a relative reference to one resource. https://hl7.org/fhir/R4/datatypes.html#id */
export function isFhirUser(text: string): boolean {
  return /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9.-]{1,64}$/.test(text);
}

/** All accounts of a file; none if there is no file. Throws AccountsError, or the file system's error. */
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
 * Why a file of accounts cannot be read, in words for whoever runs the server; undefined if it can. It stays where it
 * is: `lintel user` wrote it, and nobody in it gets in until it is right again.
 */
export function whyUnreadable(file: string): string | undefined {
  try {
    readAccounts(file);
    return undefined;
  } catch (error) {
    if (!(error instanceof AccountsError) && !(error instanceof Error && 'code' in error)) throw error;
    const why = error instanceof AccountsError ? error.message : `It cannot be read (${String(error.code)})`;
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

/** Changes whenever sessions of the account have to end. */
export function sessionMark({ password, era = '' }: Account): string {
  return password + era;
}

/** Replaces the file at once. */
export function writeAccounts(file: string, accounts: readonly Account[]): void {
  writePrivate(file, { accounts });
}

/** Accounts of a file, read again when it was changed. */
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

/** The accounts of both; where both have a name, the first one's. */
export function joinAccounts(first: Accounts, second: Accounts): Accounts {
  return { find: name => first.find(name) ?? second.find(name) };
}

/** Accounts that are in no file. */
export function someAccounts(...accounts: readonly Account[]): Accounts {
  const known = new Map(accounts.map(account => [account.name, account]));
  return { find: name => known.get(name) };
}
