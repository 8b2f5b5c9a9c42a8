/**
 * Finds the account of a person who logs in at the hospital's issuer. In: the claims of a login. Out: the account of
 * the same name in the accounts file, or one that is kept here for the FHIR resource that the claims, or the pack,
 * name. Without such a resource nobody comes in.
 */
import { createHash } from 'node:crypto';
import { type Account, type Accounts, isFhirUser } from '../auth/accounts.ts';
import type { IssuerSettings } from '../config/config.ts';
import type { Claims } from './issuer.ts';
import type { Store } from './store.ts';

/** The FHIR resource of whoever has a login name, as a relative reference; undefined: nobody's. Throws for outages. */
export type UserOf = (login: string) => Promise<string | undefined>;

export interface People {
  /** Accounts of the file and of people who logged in at the issuer. */
  readonly accounts: Accounts;
  /** The account of somebody who has just logged in there; undefined: they may not come in. Throws for outages. */
  admit(claims: Claims): Promise<Account | undefined>;
}

/** Somebody without an account in the file. */
interface Person {
  readonly issuer: string;
  readonly fhirUser: string;
  readonly shown: string;
  readonly login?: string;
}

export interface PeopleOptions {
  readonly settings: IssuerSettings;
  readonly store: Store;
  /** Those of the file, which have their way. */
  readonly own: Accounts;
  readonly fhirBase: string;
  readonly userOf?: UserOf | undefined;
}

/** Begins the names of accounts of the issuer; no account of the file can begin so. */
const PREFIX = 'issuer:';

/** Characters of a login name. */
const LONGEST_LOGIN = 200;

export function peopleOf({ settings, store, own, fhirBase, userOf }: PeopleOptions): People {
  const find = (name: string): Account | undefined => {
    if (!name.startsWith(PREFIX)) return own.find(name);
    const person = store.find<Person>('Person', name)?.value;
    // Another issuer may give the same subjects to other people.
    if (person === undefined || person.issuer !== settings.url) return undefined;
    const { fhirUser, shown, login } = person;
    const named = login === undefined ? undefined : own.find(login);
    const { disabled = false, era } = named ?? {};
    // No password fits: they prove who they are elsewhere.
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
      const name = PREFIX + createHash('sha256').update(`${settings.url}\n${subject}`).digest('base64url');
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

/** The login name of the claim that is configured. An address of mail counts only where the issuer has verified it. */
function loginOf(claims: Claims, { nameClaim }: IssuerSettings): string | undefined {
  if (nameClaim === undefined) return undefined;
  const login = claims[nameClaim];
  if (nameClaim === 'email' && claims['email_verified'] !== true) return undefined;
  return typeof login === 'string' && login !== '' && login.length <= LONGEST_LOGIN ? login : undefined;
}

/** A reference of this server: relative, or absolute below its own address. */
function fhirUserOf(claim: unknown, fhirBase: string): string | undefined {
  if (typeof claim !== 'string') return undefined;
  const relative = claim.startsWith(`${fhirBase}/`) ? claim.slice(fhirBase.length + 1) : claim;
  return isFhirUser(relative) ? relative : undefined;
}

function shownOf(claims: Claims, otherwise: string): string {
  const names = ['name', 'preferred_username'].map(claim => claims[claim]);
  return String(names.find(name => typeof name === 'string' && name !== '') ?? otherwise).slice(0, 100);
}
