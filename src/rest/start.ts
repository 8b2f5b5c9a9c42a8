/**
 * Assembles the REST interface. In: configuration; then, for each version of the mappings, its facade and its
 * documents. Out: the login, which outlives a version, and the parts that the routes need.
 */
import { randomBytes } from 'node:crypto';
import type { Access } from '../auth/access.ts';
import {
  type Account,
  type Accounts,
  accountsOfFile,
  accountsThat,
  joinAccounts,
  someAccounts,
} from '../auth/accounts.ts';
import { createLogin, type Login } from '../auth/login.ts';
import { hashPassword } from '../auth/password.ts';
import { createSessions, type Sessions } from '../auth/sessions.ts';
import type { Content } from '../ccda/content.ts';
import type { Software } from '../ccda/header.ts';
import type { Config } from '../config/config.ts';
import type { Facade } from '../facade.ts';
import type { RestSource } from './fhir-source.ts';
import { numbersOf } from './numbers.ts';

export interface RestParts {
  readonly source: RestSource;
  readonly login: Login;
  /** True if the account may log in here with a password. */
  readonly may: (account: Account) => boolean;
  readonly sessions: Sessions;
  readonly software: Software;
  /** Returns what a logged-in account may see. */
  readonly accessOf: (account: Account) => Access;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** An account for trying out; `password` only if it was generated, and therefore has to be shown. */
export interface DemoAccount {
  readonly user: string;
  readonly password: string | undefined;
}

/** Accounts, logins and sessions. */
export interface Entrance {
  readonly accounts: Accounts;
  readonly login: Login;
  /** True if the account may log in at the REST interface with a password. */
  readonly may: (account: Account) => boolean;
  readonly sessions: Sessions;
  readonly demo: DemoAccount | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

const SESSIONS_PER_ACCOUNT = 50;

/**
 * Opens accounts, logins and sessions. `more`: accounts that are in no file. `demoUser`: the FHIR user of the account
 * for trying out. `clock`: milliseconds since the epoch.
 */
export async function openEntrance(
  config: Pick<Config, 'accounts' | 'session' | 'demo' | 'database' | 'login'>,
  more: readonly Account[] = [],
  demoUser: string | undefined = undefined,
  clock: () => number = Date.now,
): Promise<Entrance> {
  const known = accountsOfFile(config.accounts);
  const made = config.demo === undefined && config.database === undefined;
  const password = made ? randomBytes(12).toString('base64url') : config.demo?.password;
  const user = config.demo?.user ?? 'demo';
  const tied = demoUser === undefined ? {} : { fhirUser: demoUser };
  const own =
    password === undefined
      ? []
      : [{ name: user, password: await hashPassword(password), disabled: false, restPassword: true as const, ...tied }];
  const accounts = joinAccounts(someAccounts(...more, ...own), known);
  const { idle, lifetime, max } = config.session;
  const limits = { idle, lifetime, most: max, mostPerAccount: Math.min(max, SESSIONS_PER_ACCOUNT) };
  const may = ({ restPassword }: Account): boolean => config.login.restPasswords === 'all' || restPassword === true;
  return {
    accounts,
    login: createLogin(accounts),
    may,
    sessions: createSessions(accountsThat(may, accounts), limits),
    demo: password === undefined ? undefined : { user, password: made ? password : undefined },
    clock,
  };
}

/** Returns the parts of the REST interface; undefined if the pack has none. */
export function restParts(
  { login, may, sessions, clock }: Entrance,
  facade: Facade,
  content: Content | undefined,
  accessOf: (account: Account) => Access,
  version: string,
): RestParts | undefined {
  const patients = numbersOf(facade.registry, 'Patient');
  const encounters = numbersOf(facade.registry, 'Encounter');
  if (content === undefined || patients === undefined || encounters === undefined) return undefined;
  const software = { name: 'Lintel', version };
  return { source: { facade, content, patients, encounters }, login, may, sessions, software, accessOf, clock };
}
