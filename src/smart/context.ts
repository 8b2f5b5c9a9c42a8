/**
 * The context of a launch: whose record, which visit, what the app should show. In: what an EHR posts, or the choices
 * of a person. Out: the context that is kept with a grant and told with each of its tokens.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */

import type { Account } from '../auth/accounts.ts';
import { eraOf, NO_ERA } from '../auth/era.ts';
import type { Client } from './clients.ts';

/** A further resource that a launch is about: a reference, a canonical address or an identifier, and in which role. */
export interface ContextItem {
  /** Relative: `ImagingStudy/7`. */
  readonly reference?: string;
  readonly canonical?: string;
  readonly identifier?: Readonly<Record<string, string>>;
  /** Resource type. */
  readonly type?: string;
  /** A URI; absent: `launch`. */
  readonly role?: string;
}

export interface LaunchContext {
  /** Logical id. */
  readonly patient?: string;
  /** Logical id. */
  readonly encounter?: string;
  /** Other resources than patient and encounter. */
  readonly fhirContext?: readonly ContextItem[];
  /** Whether the app has to show whose record it is; an EHR that shows it already says no. Default: it has to. */
  readonly needPatientBanner?: boolean;
  /** What the person wants to do, as EHR and app agreed on. */
  readonly intent?: string;
}

/** A launch that an EHR announced, and that an app will come with. */
export interface Launch extends LaunchContext {
  /** The only client that may use it. */
  readonly client: string;
  /** The only person who may use it, as a relative reference; undefined: whoever logs in. */
  readonly user?: string;
}

/** What a person allowed an app, and since when. */
export interface GrantContext extends LaunchContext {
  readonly grant: string;
  readonly client: string;
  /** Who allowed it, as a relative reference; null: an account that is nobody. */
  readonly user: string | null;
  readonly scopes: readonly string[];
  /** ISO instant. */
  readonly since: string;
  /** Of account and app (`eraOf`). */
  readonly era?: string;
}

/**
 * Whether a grant still holds: the account is that of the person who allowed it (names are given to others later), and
 * nobody took the account or the app away since, even if both are back.
 */
export function stillHolds(context: GrantContext, account: Account, client: Client | undefined): boolean {
  const { user, era = NO_ERA } = context;
  return user === (account.fhirUser ?? null) && era === eraOf(account, client);
}
