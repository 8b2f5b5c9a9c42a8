/**
 * Finds the account of a person who logs in at the hospital's issuer. In: the claims of a login. Out: the account of
 * the same name in the accounts file, or one stored here for the FHIR resource that the claims, or the pack, name.
 * Without such a resource nobody gets in.
 */
import { hash } from 'node:crypto';
import { type Account, type Accounts, isFhirUser } from '../auth/accounts.ts';
import type { IssuerSettings } from '../config/config.ts';
import type { Claims } from './issuer.ts';
import type { Store } from './store.ts';

/** Finds the FHIR resource of a login name, as a relative reference; undefined: there is none. Throws for outages. */
export type UserOf = (login: string) => Promise<string | undefined>;

export interface People {
  /** Accounts of the file and of people who logged in at the issuer. */
  readonly accounts: Accounts;
  /**
   * Returns the account of a person who has just logged in there; undefined: they may not come in. Throws for outages.
   */
  admit(claims: Claims): Promise<Account | undefined>;
}

/** A person without an account in the file. */
interface Person {
  readonly issuer: string;
  readonly fhirUser: string;
  readonly shown: string;
  readonly login?: string;
}

export interface PeopleOptions {
  readonly settings: IssuerSettings;
  readonly store: Store;
  /** Accounts of the file, which take precedence. */
  readonly own: Accounts;
  readonly fhirBase: string;
  readonly userOf?: UserOf | undefined;
}

/** Prefix of account names of the issuer; no name in the file can begin like this. */
const PREFIX = 'issuer:';

/** Maximum characters of a login name. */
const LONGEST_LOGIN = 200;

export function peopleOf({ settings, store, own, fhirBase, userOf }: PeopleOptions): People {
  const find = (name: string): Account | undefined => {
    if (!name.startsWith(PREFIX)) return own.find(name);
    const person = store.find<Person>('Person', name)?.value;
    // Another issuer may give the same subject to another person.
    if (person === undefined || person.issuer !== settings.url) return undefined;
    const { fhirUser, shown, login } = person;
    const named = login === undefined ? undefined : own.find(login);
    const { disabled = false, era } = named ?? {};
    // No password matches, because these people authenticate elsewhere.
    return { name, shown, fhirUser, disabled, password: '', ...(era !== undefined && { era }) };
  };

  return {
    accounts: { find },
    async admit(claims) {
      const login = loginOf(claims, settings);
      const named = login === undefined ? undefined : own.find(login);
      if (named !== undefined) return named.disabled ? undefined : named;
      const subject = claims['sub'];
      const fhirUser =
        fhirUserOf(claims[settings.userClaim], fhirBase) ?? (login === undefined ? undefined : await userOf?.(login));
      if (typeof subject !== 'string' || fhirUser === undefined) return undefined;
      const name = PREFIX + hash('sha256', `${settings.url}\n${subject}`, 'base64url');
      const person: Person = {
        ...{ issuer: settings.url, fhirUser, shown: shownOf(claims, login ?? fhirUser) },
        ...(login === undefined ? {} : { login }),
      };
      const expires = Math.floor(Date.now() / 1000) + settings.days * 86_400;
      store.keep('Person', name, person, { expires });
      return find(name);
    },
  };
}

/** Returns the login name in the configured claim. An email address counts only if the issuer has verified it. */
function loginOf(claims: Claims, { nameClaim }: IssuerSettings): string | undefined {
  if (nameClaim === undefined) return undefined;
  const login = claims[nameClaim];
  if (nameClaim === 'email' && claims['email_verified'] !== true) return undefined;
  return typeof login === 'string' && login !== '' && login.length <= LONGEST_LOGIN ? login : undefined;
}

/** Returns a reference to a resource of this server: relative, or absolute below its own address. */
function fhirUserOf(claim: unknown, fhirBase: string): string | undefined {
  if (typeof claim !== 'string') return undefined;
  const relative = claim.startsWith(`${fhirBase}/`) ? claim.slice(fhirBase.length + 1) : claim;
  return isFhirUser(relative) ? relative : undefined;
}

function shownOf(claims: Claims, otherwise: string): string {
  const names = ['name', 'preferred_username'].map(claim => claims[claim]);
  return String(names.find(name => typeof name === 'string' && name !== '') ?? otherwise).slice(0, 100);
}
