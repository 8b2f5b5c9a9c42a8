/**
 * Accounts of the REST interface: a file of names and password hashes, managed by `lintel user`. In: the file. Out: the
 * account of a name, as the file stands now. The file is replaced as a whole and only its owner can read it.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../make-folder.ts';

export interface Account {
  readonly name: string;
  /** PHC string; changes with the password. */
  readonly password: string;
  readonly disabled: boolean;
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

/** All accounts of a file; none if there is no file. Throws AccountsError, or the file system's error. */
export function readAccounts(file: string): readonly Account[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new AccountsError('The file of accounts is not JSON');
  }
  const accounts = (data as { readonly accounts?: unknown } | null)?.accounts;
  if (!Array.isArray(accounts) || !accounts.every(isAccount)) {
    throw new AccountsError('The file of accounts is not in the form that `lintel user` writes');
  }
  return accounts;
}

function isAccount(one: unknown): one is Account {
  const { name, password, disabled } = (one ?? {}) as Readonly<Record<keyof Account, unknown>>;
  return (
    typeof name === 'string' && isAccountName(name) && typeof password === 'string' && typeof disabled === 'boolean'
  );
}

/** Replaces the file at once: readers see the old accounts or the new ones. */
export function writeAccounts(file: string, accounts: readonly Account[]): void {
  makeFolder(dirname(file));
  const unfinished = `${file}.${randomUUID()}`;
  try {
    writeFileSync(unfinished, `${JSON.stringify({ accounts }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Accounts of a file, read again when it was changed. */
export function accountsOfFile(file: string): Accounts {
  let known: ReadonlyMap<string, Account> = new Map();
  let stamp: string | undefined;
  return {
    find(name) {
      const now = stampOf(file);
      if (now !== stamp) {
        known = new Map(readAccounts(file).map(account => [account.name, account]));
        stamp = now;
      }
      return known.get(name);
    },
  };
}

/** Changes whenever the file is replaced. */
function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (isMissing(error)) return 'none';
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The accounts of both; the first has its way. */
export function joinAccounts(first: Accounts, second: Accounts): Accounts {
  return { find: name => first.find(name) ?? second.find(name) };
}

/** One account that is in no file. */
export function oneAccount(account: Account): Accounts {
  return { find: name => (name === account.name ? account : undefined) };
}
